import type { BuiltinPattern, Judge, JudgedExpression } from '../builtin-pattern.ts';
import { NOTHING } from '../builtin-pattern.ts';
import { machineMade, realKey } from '../judges.ts';
import { BROKEN_WEBHOOKS } from './broken-lines.ts';
import { MORE_PLATFORMS } from './platform-marks.ts';

const FORM = 'not a placeholder of the same form';

/** A run of base64 this long before a mark makes the mark a coincidence. */
const BLOB = /[A-Za-z0-9+/_-]{32}$/;

/** Whether a mark within a word begins a key: the rest is random and ends where the word does. */
function isKeyInWord(text: string, start: number, end: number): boolean {
  const key = text.slice(start, Math.min(end, start + 200));
  const isMixed = /\d/.test(key) && /[A-Z]/.test(key) && /[a-z]/.test(key);
  const isInBlob = BLOB.test(text.slice(Math.max(0, start - 32), start));
  return isMixed && !isInBlob && !/[A-Za-z0-9+/=]/.test(text[end] ?? '');
}

/**
 * A key behind its mark. The mark may follow `_`, as in `key_AKIA…` and Markdown's `_AKIA…_`; one
 * that no word contains may also stand within a word.
 */
function marked(judge: Judge): Judge {
  return (text, start, end) => {
    const isBehindLine = text[start] === '_';
    const from = isBehindLine ? start + 1 : start;
    const to = isBehindLine && text[end - 1] === '_' ? end - 1 : end;
    const isInWord = /[A-Za-z0-9]/.test(text[from - 1] ?? '');
    if (isInWord && !isKeyInWord(text, from, to)) return NOTHING;
    return isInWord ? machineMade(text, from, to) : judge(text, from, to);
  };
}

const markedKey = marked(realKey);

/** A key that letters or digits behind it would make something else. */
const notGoingOn: Judge = (text, start, end) =>
  /[A-Za-z0-9]/.test(text[end] ?? '') ? NOTHING : markedKey(text, start, end);

function whole(expression: string): JudgedExpression {
  return { expression, judge: notGoingOn };
}

const MAXMIND = /(?:\b|_)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk$/;

/** A key of MaxMind: its mark stands at its end, where the candidate is. */
const ofMaxMind: JudgedExpression = {
  expression: '_mmk',
  judge(text, start, end) {
    const key = MAXMIND.exec(text.slice(Math.max(0, start - 38), end))?.[0];
    return key === undefined ? NOTHING : notGoingOn(text, end - key.length, end);
  },
};

/** Behind a mark of a few letters that a digest, or ids in a row, may begin with as well. */
const ofBothCases: Judge = (text, start, end) =>
  /[a-z]/.test(text.slice(start, end)) ? realKey(text, start, end) : NOTHING;

/** Keys and tokens with their issuer's mark. */
/** `sk-live-migration-28460` names a job. */
const openAi: Judge = (text, start, end) =>
  /^_?sk(?:-[a-z]+)+-\d{1,8}$/.test(text.slice(start, end))
    ? NOTHING
    : machineMade(text, start, end);

export const ISSUER_KEYS: readonly BuiltinPattern[] = [
  {
    name: 'aws_access_key_id',
    severity: 'critical',
    description: 'Access key id of Amazon Web Services, long-lived or temporary.',
    expressions: [whole(String.raw`(?:\b|_)(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}`)],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'git_host_token',
    severity: 'critical',
    description: 'Token of GitHub, GitLab or Bitbucket.',
    expressions: [
      'gh[pousr]_[A-Za-z0-9]{30,255}',
      'github_pat_[A-Za-z0-9_]{22,255}',
      '(?:gl(?:pat|ptt|cbt|imt|agent|soat|oas|ffct)-|GR1348941)[A-Za-z0-9_.=-]{18,255}',
      String.raw`(?:\b|_)gl(?:dt|rt|ft|wt)-[A-Za-z0-9_.=-]{18,255}`,
      String.raw`(?:\b|_)(?:ATBB|BBDC-)[A-Za-z0-9+/=_-]{24,255}`,
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'slack_token',
    severity: 'critical',
    description: 'Slack token or webhook.',
    expressions: [
      String.raw`xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,255}`,
      String.raw`xapp-\d-[A-Za-z0-9-]{10,255}`,
      String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_]{6,20}/[A-Za-z0-9_/]{12,120}`,
      ...BROKEN_WEBHOOKS,
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'google_api_key',
    severity: 'critical',
    description: 'Google API key, OAuth client secret, access or refresh token.',
    expressions: [
      'AIza[A-Za-z0-9_-]{33,40}',
      'GOCSPX-[A-Za-z0-9_-]{20,60}',
      String.raw`ya29\.[A-Za-z0-9_-]{20,255}`,
      String.raw`(?:\b|_)1//0[A-Za-z0-9_-]{30,255}`,
      String.raw`(?:\b|_)AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,200}`,
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'payment_service_key',
    severity: 'critical',
    description: 'Key of a payment service or shop: Stripe, Square, Braintree, Shopify, Plaid …',
    expressions: [
      String.raw`(?:\b|_)(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,255}`,
      '(?:sk|rk)_live_[A-Za-z0-9]{20,255}',
      String.raw`(?:\b|_)whsec_[A-Za-z0-9+/=]{24,120}`,
      String.raw`(?:\b|_)(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,60}|EAAA[A-Za-z0-9_-]{56,64}\b)`,
      String.raw`(?:\b|_)shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}`,
      String.raw`(?:\b|_)access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}`,
      String.raw`(?:\b|_)access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}`,
      String.raw`(?:\b|_)(?:rzp_(?:live|test)_[A-Za-z0-9]{14}|FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,80})`,
      whole(String.raw`(?:\b|_)sk_[a-f0-9]{32,64}`),
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'messaging_service_key',
    severity: 'critical',
    description:
      'Key of a mail, telephone or chat service: Twilio, SendGrid, Mailgun, Mailchimp, Telegram, Discord …',
    expressions: [
      whole(String.raw`(?:\b|_)(?:SK|AC)[0-9a-f]{32}`),
      String.raw`(?:\b|_)SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,80}`,
      whole(String.raw`(?:\b|_)key-[0-9a-zA-Z]{32}`),
      String.raw`(?:\b|_)[0-9a-f]{32}-(?:us\d|[0-9a-f]{8}-[0-9a-f]{8}\b)`,
      String.raw`(?:\b|_)\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b`,
      // In a URL of Telegram: bot<id>:<token>/.
      String.raw`bot\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b`,
      String.raw`(?:\b|_)[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}`,
      String.raw`discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{40,90}`,
      String.raw`webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{36,90}/IncomingWebhook/[A-Za-z0-9]{16,40}`,
      String.raw`(?:\b|_)x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}`,
      String.raw`(?:\b|_)re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,40}`,
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'ai_service_key',
    severity: 'critical',
    description: 'Key of a model provider: OpenAI, Anthropic, Hugging Face, Groq, xAI, Replicate …',
    expressions: [
      String.raw`sk-(?:proj-|svcacct-|or-v1-|ant-(?:api|admin|sid|oat)\d\d-)[A-Za-z0-9_-]{20,255}`,
      {
        expression: String.raw`(?:\b|_)sk-(?:proj-|svcacct-|admin-|or-v1-|ant-(?:api|admin|sid|oat)\d\d-|lf-)?[A-Za-z0-9_-]{20,255}`,
        judge: marked(openAi),
      },
      String.raw`(?:\b|_)hf_[A-Za-z0-9]{30,80}`,
      String.raw`(?:\b|_)(?:gsk_[A-Za-z0-9]{40,80}|xai-[A-Za-z0-9]{60,100}|r8_[A-Za-z0-9]{30,60})`,
      String.raw`(?:\b|_)(?:pplx-[A-Za-z0-9]{32,80}|nvapi-[A-Za-z0-9_-]{50,100}|tvly-[A-Za-z0-9-]{20,60}|pcsk_[A-Za-z0-9_]{40,100})`,
      whole(
        String.raw`(?:\b|_)(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|fw_[A-Za-z0-9]{22,40}|csk-[a-z0-9]{40,60})`,
      ),
    ],
    validator: 'behind sk-: letters, digits and ten different characters',
    judge: markedKey,
  },
  {
    name: 'platform_token',
    severity: 'critical',
    description:
      'Token of a registry or platform: npm, PyPI, Docker, DigitalOcean, Vault, Databricks, Atlassian, Grafana …',
    expressions: [
      'bkua_[a-f0-9]{40}',
      'npm_[A-Za-z0-9]{36}',
      String.raw`(?:\b|_)pypi-AgE[A-Za-z0-9_-]{40,255}|(?:\b|_)pypi-[A-Za-z0-9_-]{60,255}`,
      String.raw`(?:\b|_)(?:rubygems_[a-f0-9]{48}|oy2[a-z0-9]{43}|cio[A-Za-z0-9]{32}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60})`,
      String.raw`(?:\b|_)do[opr]_v1_[a-f0-9]{64}`,
      String.raw`(?:\b|_)(?:hv[sbr]\.[A-Za-z0-9_-]{20,255}|dapi[a-f0-9]{32}|dop_[a-z0-9_]{30,90})`,
      String.raw`(?:\b|_)(?:ATATT3|ATCTT3|ATSTT3)[A-Za-z0-9_=-]{50,255}`,
      String.raw`(?:\b|_)(?:gl(?:sa|c)_[A-Za-z0-9_=]{30,255}|NRAK-[A-Z0-9]{27}|NRJS-[a-f0-9]{19}|NRII-[A-Za-z0-9-]{32})`,
      String.raw`(?:\b|_)(?:lin_api_[A-Za-z0-9]{40}|ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}|figd_[A-Za-z0-9_-]{40,60})`,
      String.raw`(?:\b|_)(?:PMAK-[a-f0-9]{24}-[a-f0-9]{34}|pul-[a-f0-9]{40}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,60})`,
      String.raw`(?:\b|_)(?:pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}|sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,60})`,
      String.raw`(?:\b|_)(?:sntrys_[A-Za-z0-9+/=_-]{40,255}|sntryu_[a-f0-9]{64}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64})`,
      String.raw`[A-Za-z0-9]\.atlasv1\.[A-Za-z0-9_-]{60,70}`,
      whole(String.raw`(?:\b|_)(?:LTAI[A-Za-z0-9]{16,24}|AKID[A-Za-z0-9]{28,36})`),
      String.raw`(?:\b|_)(?:sq[apu]_[a-f0-9]{40}|AKCp[A-Za-z0-9]{60,80}|fm[12]r?_[A-Za-z0-9+/=_,-]{40,1000}|sdk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`,
      String.raw`\b[12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}\b`,
      String.raw`(?:\b|_)sk\.eyJ[A-Za-z0-9_-]{20,255}\.[A-Za-z0-9_-]{20,60}\b`,
      {
        expression: String.raw`(?:\b|_)(?:EAA[A-Za-z0-9]{80,255}|EAA[A-Z][A-Za-z0-9]{60,79})\b`,
        judge: marked(ofBothCases),
      },
      String.raw`(?:\b|_)HRKU-[A-Za-z0-9_-]{36,62}`,
      String.raw`(?:\b|_)(?:EAACEdEose0cBA[A-Za-z0-9]{10,255}|tfp_[A-Za-z0-9_.=-]{40,60}|sl\.(?:u\.)?[A-Za-z0-9_-]{120,255}|shippo_(?:live|test)_[a-f0-9]{40})`,
      String.raw`(?:\b|_)(?:pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|nfp_[A-Za-z0-9]{36}|vcp_[A-Za-z0-9]{24,60}|CFPAT-[A-Za-z0-9_-]{43}|pnu_[A-Za-z0-9]{36})`,
      String.raw`(?:\b|_)(?:ops_eyJ[A-Za-z0-9+/=_-]{60,255}|AGE-SECRET-KEY-1[A-Z0-9]{58}|tskey-[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,40})`,
      String.raw`(?:\b|_)(?:SSWS 00[A-Za-z0-9_-]{38,42}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160})`,
      String.raw`(?:\b|_)(?:EZ[AT]K[A-Za-z0-9]{54}|duffel_(?:test|live)_[A-Za-z0-9_=-]{43}|fio-u-[A-Za-z0-9_=-]{64}|phc_[A-Za-z0-9]{43}|phx_[A-Za-z0-9]{43})`,
      ...MORE_PLATFORMS.map(whole),
      ofMaxMind,
    ],
    validator: FORM,
    judge: markedKey,
  },
  {
    name: 'jwt',
    severity: 'high',
    description: 'JSON Web Token.',
    expressions: [
      String.raw`(?:\b|_)eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ|[A-Za-z0-9_-])[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
    ],
    validator: FORM,
    judge: markedKey,
  },
];
