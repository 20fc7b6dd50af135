import { type BuiltinPattern, type Judge, NOTHING } from '../builtin-pattern.ts';
import { around, isPartOfLonger } from '../judges.ts';
import { findNear, stretches } from '../near.ts';
import { CALLING, CALLING_SOMEBODY, OWN_NUMBER, PHONE_LABELS } from './labels.ts';
import { WORLD_PHONE_LABELS } from './world-labels.ts';

// Not a person's address: company roles, protocol accounts, examples.
const ROLES =
  /^(?:no-?reply|do-?not-?reply|support|info|admin|administrator|help|sales|contact|hello|team|security|abuse|postmaster|webmaster|hostmaster|root|git|user|users?\d?|username|name|you|your[._-]?(?:name|email)|someone|somebody|me|nombre|nom|nome|naam|vorname|imie|test|tester|example|foo|bar|email|mail|dev|noreply|notifications?|billing|press|jobs|service|api|bot|ci|alice|bob|jane|john|john\.?doe|jane\.?doe|first\.last|firstname\.lastname|(?:first|second|last|corresponding)\.?author|author)(?:\+.*)?$/i;
const EXAMPLE_HOST =
  /(?:^|\.)(?:example|test|invalid|localhost|local|internal)(?:\.|$)|^(?:example|domain|yourdomain|company|email|acme|foo|bar|test|dominio|domínio|domaine|dom[äa]ne|domena|beispiel|exemple|ejemplo|esempio|exemplo|voorbeeld)\.|\.tld$/i;
const PUBLIC_ROLES =
  /^(?:no-?reply|do-?not-?reply|support|info|admin|help|sales|contact|hello|team|security|abuse|postmaster|webmaster|git|notifications?|press|jobs|bot|ci|noreply|user(?:name)?)(?:\+.*)?$/i;
/** Whom forms and manuals name in an address of an example. */
const NOBODY =
  /^(?:[a-z]{1,10}[._-]?)?(?:muster(?:mann|frau)?|doe|nordmann|meik[aä]l[aä]inen|normalverbraucher|fulano)(?:[._-]?\d{1,2})?$/i;
/** Names of algorithms and extensions of SSH have their inventor's host behind them. */
const INVENTED_AT =
  /^(?:openssh\.com|libssh\.org|lysator\.liu\.se|(?:[a-z]+\.)?ssh\.com|(?:projects\.)?tartarus\.org)$/i;
const INVENTED =
  /sha\d|aes|chacha|mac\b|umac|hmac|ecdsa|dss|rsa|ed25519|ed448|sntrup|mlkem|curve25519|ntru|zlib|cert|kex|group\d|hostkey|keepalive|auth|channel|session|statvfs|rename|copy|fsync|limits|ping|ext-info|winadj|seed|blowfish|cbc|ctr|gcm/i;
/** Numbers of messages and of parts of mails have the form of an address. */
const OF_A_MESSAGE =
  /(?:\b(?:message|content|thread|conversation|original-message|resent-message|x-[a-z-]{1,24})-?id|\bmsg-?id|\b(?:references|in-reply-to))["']?[ \t]?[:=][^\n]{0,200}$|\b(?:cid|mid):$/i;
const BEFORE_MESSAGE = 240;
const FILE_END = /\.(?:png|jpe?g|gif|svg|js|ts|css|json|html?|py|txt|md|local|lock|service)$/i;

const LOCAL_END = /[A-Za-z0-9_%+'-][A-Za-z0-9._%+'-]{0,63}$/;
const HOST = /^(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])/;
const DOT = String.raw`(?:\s?[\[({<]\s?(?:dot|punkt|punto|point|\.)\s?[\])}>]\s?|\s?\.\s?|\s(?:dot|punkt|punto|point)\s)`;
const SPOKEN_HOST = new RegExp(`^\\s?[a-z0-9-]{1,63}(?:${DOT}[a-z0-9-]{2,30}){1,4}`, 'i');

/** The address around an `@`. */
const email: Judge = (text, start, end) => {
  const at = text.indexOf('@', start);
  // A quotation mark before it is none of its own.
  const local = LOCAL_END.exec(text.slice(Math.max(0, at - 64), at))?.[0].replace(/^'+/, '');
  const host = HOST.exec(text.slice(at + 1, at + 256))?.[0];
  if (!local || !host || at >= end) return NOTHING;
  const found = { start: at - local.length, end: at + 1 + host.length };
  // A public name: @user@server.
  if (text[found.start - 1] === '@') return NOTHING;
  // user@host in a URL or a command: ssh://git@host:22, //user@host/path.
  const isHost = /[/:]$/.test(text.slice(Math.max(0, found.start - 1), found.start));
  if (isHost && /^[:/]/.test(text.slice(found.end, found.end + 1))) return NOTHING;
  if (INVENTED_AT.test(host) && INVENTED.test(local)) return NOTHING;
  if (/\d/.test(local)) {
    if (OF_A_MESSAGE.test(text.slice(Math.max(0, found.start - BEFORE_MESSAGE), found.start)))
      return NOTHING;
  }
  return isPersonal(local, host) ? [found] : NOTHING;
};

/** john.smith [at] gmail [dot] com; the candidate holds the "at". */
const spokenEmail: Judge = (text, start, end) => {
  const sign = /\s?(?:[[({<]\s?(?:at|@|arroba|ät)\s?[\])}>]|(?<=\s)(?:at|arroba)(?=\s))/i.exec(
    text.slice(start, end),
  );
  if (!sign) return NOTHING;
  const from = start + sign.index;
  const to = from + sign[0].length;
  const before = text.slice(Math.max(0, from - 64), from).replace(/\s$/, '');
  const local = LOCAL_END.exec(before)?.[0];
  const host = SPOKEN_HOST.exec(text.slice(to, to + 160))?.[0];
  if (!local || !host || local.length < 2) return NOTHING;
  // "at the dot on the map"
  if (/^\s(?:the|this|that|each|every|an?|our|your) (?:dot|point) /i.test(host)) return NOTHING;
  const gap = text[from - 1] === ' ' ? 1 : 0;
  const plain = host.replace(new RegExp(DOT, 'gi'), '.').trim();
  return isPersonal(local, plain)
    ? [{ start: from - gap - local.length, end: to + host.length }]
    : NOTHING;
};

const IS = String.raw`\\{0,3}["']?\s?[:=]\s?\\{0,3}["']?`;

/** `{"email_local": "…", "email_domain": "…"}` */
const emailInParts: Judge = (text, start, end) => {
  const [, before = '', local = '', between = '', host = ''] =
    /^([^:=]*[:=][\s"'\\]*)([\w.%+-]+)([^:=]*[:=][\s"'\\]*)([A-Za-z0-9.-]+)$/.exec(
      text.slice(start, end),
    ) ?? [];
  if (host === '' || !isPersonal(local, host)) return NOTHING;
  const from = start + before.length;
  const to = from + local.length;
  return [
    { start: from, end: to },
    { start: to + between.length, end: to + between.length + host.length },
  ];
};

function isPersonal(local: string, host: string): boolean {
  if (PUBLIC_ROLES.test(local) || FILE_END.test(host)) return false;
  if (!EXAMPLE_HOST.test(host)) return true;
  return !ROLES.test(local) && !NOBODY.test(local) && (/[._\-\d]/.test(local) || local.length >= 6);
}

const FICTIONAL =
  /(?:^|\D)(?:\+?1\D{0,2})?(?:555\D{0,3}123\D?4567|\(?555\)?\D{0,2}01\d\d|123\D?456\D?7890|000\D?000\D?0000)/;

/** From one number to another: 4000–4999. */
function isRange(written: string): boolean {
  const [, first = '', sign = '', last = ''] =
    /^(\d{3,7}) ?([-–—]) ?(\d{3,7})$/.exec(written) ?? [];
  if (first.length !== last.length || Number(last) <= Number(first)) return false;
  return sign !== '-' || (/0{2}$/.test(first) && /9{2}$/.test(last));
}

/** 172.16.254.100; of two digits each it may be a number of Denmark. */
const isAddressOfNetwork = (written: string): boolean =>
  /^\d{1,3}(?:\.\d{1,3}){3}$/.test(written) &&
  !/^\d\d(?:\.\d\d){3}$/.test(written) &&
  written.split('.').every((part) => Number(part) <= 255);

function isPhone(written: string): boolean {
  const digits = written.replace(/\D/g, '');
  if (digits.length < 7 || digits.length > 15 || new Set(digits).size < 3) return false;
  if (isRange(written) || isAddressOfNetwork(written)) return false;
  return !FICTIONAL.test(written);
}

/** `to=`, `&From=`, `caller_id=`. */
const NAMED = /(?:^|[\s?&,;|{(["'])[A-Za-z][A-Za-z_.-]{0,24}=$/;

const international: Judge = (text, start, candidateEnd) => {
  const written = text.slice(start, candidateEnd).replace(/\D+$/, '');
  const end = start + written.length;
  const before = text.slice(Math.max(0, start - 1), start);
  if (!isPhone(written) || /[A-Za-z0-9+/]/.test(before)) return NOTHING;
  // In base64 a sign of equality ends what is before it.
  // A number with decimals.
  if (/^\+\d{1,3}\.\d+$/.test(written) && !/^\+\d{1,3}\.\d{7,12}$/.test(written)) return NOTHING;
  const isBase64 = before === '=' && !NAMED.test(text.slice(Math.max(0, start - 32), start));
  return isBase64 ? NOTHING : [{ start, end }];
};

/** What a part's new number replaces: "Part (512) 550-2204 rev C replaces". */
const OF_A_PART = /\brev\.? [A-Z]\b[^\n.;]{0,20}$/;

/** A unit, or the letter of a part: "250-500-1000 ms", "971-428-8820-B". */
const AFTER_NO_PHONE = /^(?:-[A-Z]\b| ?(?:ms|sec|px|kg|mm|cm|k?Hz|[KMG]B|rpm|kW)\b)/;

const national: Judge = (text, start, end) => {
  const before = text.slice(Math.max(0, start - 2), start);
  if (/[\d.\-/A-Za-z_=#]$/.test(before) || isPartOfLonger(text, { start, end })) return NOTHING;
  if (AFTER_NO_PHONE.test(text.slice(end, end + 8))) return NOTHING;
  if (
    /nhs|tracking|(?<!b)order|invoice|isbn|version|firmware|serial|\bbytes?\b|\branges?\b|\bparts?\b|\bpart[ _-]?(?:no|nr|num)/i.test(
      around(text, start, end, 24),
    )
  )
    return NOTHING;
  if (OF_A_PART.test(text.slice(Math.max(0, start - 40), start))) return NOTHING;
  return isPhone(text.slice(start, end)) ? [{ start, end }] : NOTHING;
};

const PHONE_NEAR = stretches(
  /(?<![\dA-Za-z.])(?:\+|00)?\(?\d(?:[ .\-–/()]{0,2}\d){6,14}(?![\dA-Za-z])/g,
  (value) =>
    isPhone(value) &&
    !/^(?:19|20)\d\d(?:[-/.]\d\d[-/.]\d\d|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\D|$))/.test(
      value,
    ),
);

/** An article's number: doi:10.1016/j.cell.2021.04.048, arXiv:2107.11842. */
const OF_AN_ARTICLE = /(?:arxiv|doi|isbn|issn|pmid)[:\s/.]{0,3}$/i;

const phoneLabelled: Judge = (text, start, end) => {
  // A cell of the network, or a journal.
  if (/^ ?id\b/i.test(text.slice(end, end + 4)) || text[start - 1] === '.') return NOTHING;
  const found = findNear(text, start, end, { after: 44, before: 0 }, PHONE_NEAR);
  return found.filter(
    (one) => !OF_AN_ARTICLE.test(text.slice(Math.max(0, one.start - 12), one.start)),
  );
};

/** Mobile numbers as they are written in their own countries. */
const MOBILE = stretches(
  /(?<![\dA-Za-z.])(?:06[- ]?\d{8}|0[67](?:[ .-]?\d{2}){4}|01[567]\d[-/ ]?\d{3,4}[ ]?\d{4}|06\d{2}[ /]?\d{6,8}|07[5-9] ?\d{3} ?\d{2} ?\d{2}|07\d{3} ?\d{3} ?\d{3}|07[02369][- ]?\d{3} ?\d{2} ?\d{2}|[67]\d{2}(?:[ .-]\d{3}){2}|[67]\d{2}(?:[ .-]\d{2}){3}|3\d{2}[ ./-]\d{3} ?\d{3,4}|9[1236]\d \d{3} \d{3}|[5-8]\d{2}[ -]\d{3}[ -]\d{3}|0[45]\d[ -]?\d{3} ?\d{3,5}|05\d{2} ?\d{3} ?\d{2} ?\d{2}|\(?\d{2}\)? ?9\d{4}-?\d{4}|8 ?\(?9\d{2}\)? ?\d{3}[- ]?\d{2}[- ]?\d{2}|1[3-9]\d ?\d{4} ?\d{4}|0[789]0-\d{4}-\d{4}|010-?\d{4}-?\d{4}|04\d{2} ?\d{3} ?\d{3}|[49]\d{2} \d{2} \d{3}|\d{2} \d{2} \d{2} \d{2})(?![\dA-Za-z]|[.,-]\d)/g,
  isPhone,
);

const calledOn: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 56, before: 0 }, MOBILE);

/** As within a country, with its zero. */
const calledNationally: Judge = (text, start, end) =>
  calledOn(text, start, end).filter((one) => text[one.start] === '0');

/** "number of …" is something else's. */
const OF_ANOTHER =
  /(?<![\p{L}])(?:de|d['’]|di|da|do|für|in|im|bei|van|bij|af|av|till|der|des|dla|w|of|for|on|at|order|ticket)(?![\p{L}])/iu;

/** "my number is …", in other languages. */
const ownNumber: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 40, before: 0 }, PHONE_NEAR).filter(
    (one) =>
      /^[+(]?0|^\+/.test(text.slice(one.start, one.start + 2)) &&
      !OF_ANOTHER.test(text.slice(end, one.start)),
  );

/** How people can be reached. */
export const CONTACT: readonly BuiltinPattern[] = [
  {
    name: 'email_address',
    severity: 'low',
    description: 'E-mail address of a person, also with "at" and "dot" written out.',
    expressions: [
      '[A-Za-z0-9_%+-]@[A-Za-z0-9-]+[.][A-Za-z0-9]',
      {
        expression: String.raw`(?i)[\[({<]\s?(?:at|@|arroba|ät)\s?[\])}>]`,
        judge: spokenEmail,
      },
      {
        expression:
          '(?i)[a-z0-9] (?:at|arroba) [a-z0-9-]+ [\\[({<]?(?:dot|punkt|punto|point)[\\])}>]? [a-z]',
        judge: spokenEmail,
      },
      {
        expression: String.raw`(?i)\b(?:e-?)?mail[_-]?(?:local(?:[_-]?part)?|user(?:name)?|name)${IS}[a-z0-9._%+-]{2,64}["',;\s\\\x{2028}]{1,12}(?:e-?)?mail[_-]?(?:domain|host)${IS}[a-z0-9-]{1,63}\.[a-z0-9.-]{2,}`,
        judge: emailInParts,
      },
    ],
    validator: 'no address of a function (support@) and no example',
    judge: email,
  },
  {
    name: 'phone_number',
    severity: 'low',
    description: 'Telephone number, international or in the form of a country.',
    expressions: [
      {
        expression: String.raw`\+\(?\d[\d .\-/()]{6,24}`,
        judge: international,
      },
      {
        expression: String.raw`\(\d{3}\) ?\d{3}[-. ]\d{4}\b|\b\d{3}[-.]\d{3}[-.]\d{4}\b|\b1-\d{3}-\d{3}-\d{4}\b|\b07[02369]-\d{3} \d{2} \d{2}\b|\b0[789]0-\d{4}-\d{4}\b|\b010-\d{4}-\d{4}\b|\(\d{2}\) ?9\d{4}-\d{4}\b`,
        judge: national,
      },
      ...[...PHONE_LABELS, ...WORLD_PHONE_LABELS].map((expression) => ({
        expression,
        judge: phoneLabelled,
      })),
      ...CALLING.map((expression) => ({ expression, judge: calledOn })),
      { expression: CALLING_SOMEBODY, judge: calledNationally },
      { expression: OWN_NUMBER, judge: ownNumber },
    ],
    validator: 'seven to fifteen digits; national forms beside a word for it; no fictional number',
  },
];
