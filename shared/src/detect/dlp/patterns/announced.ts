/**
 * Secrets that a command, a statement, a call or a line of configuration announces by its own
 * grammar: what stands there is one, though no sign assigns it to a word.
 */
import { type Judge, type JudgedExpression, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { valueAt } from '../fields.ts';
import {
  entropy,
  isMixed,
  isPlaceholder,
  isSecretValue,
  type SecretKind,
} from '../validators/secret-value.ts';

/** The value right behind the announcement. */
function behind(kind: SecretKind): Judge {
  return (text, _start, end) => secretAt(text, end, kind);
}

function secretAt(text: string, at: number, kind: SecretKind): readonly Stretch[] {
  const value = valueAt(text, at, 'assigned');
  const written = value ? text.slice(value.start, value.end) : '';
  // In grave accents a manual names something.
  if (!value || /\s/.test(written) || text[value.start - 1] === '`') return NOTHING;
  const after = text.slice(value.end, value.end + 1);
  const isSecret = isSecretValue(written, kind, 'assigned', value.quoted, after);
  return isSecret ? [{ start: value.start, end: value.end }] : NOTHING;
}

/** Characters of a command line that are read. */
const MAX_LINE = 400;

/** The first secret behind an option of a command, which may have the option's name twice. */
function option(names: RegExp): Judge {
  return (text, start) => {
    const line = text.slice(start, start + MAX_LINE);
    for (const { index, 0: written, 1: value = '' } of line.matchAll(names)) {
      const to = start + index + written.length;
      if (isSecretValue(value, 'password', 'adjacent', false)) {
        return [{ start: to - value.length, end: to }];
      }
    }
    return NOTHING;
  };
}

const VALUE = String.raw`[ =:]?["']?([^\s"'|;<>][^\s"'|;<>]{3,127})`;
const options = (names: string): RegExp => new RegExp(` (?:${names})${VALUE}`, 'g');

/** The candidate's end, from its last sign of a kind on: `user/password`, `user:password`. */
function behindSign(sign: string): Judge {
  return (text, start, end) => {
    const from = start + text.slice(start, end).indexOf(sign, 1) + 1;
    const value = text.slice(from, end);
    return isSecretValue(value, 'password', 'assigned', false) ? [{ start: from, end }] : NOTHING;
  };
}

/** The candidate's last word, at most in quotes. */
const lastWord =
  (kind: SecretKind): Judge =>
  (text, start, end) => {
    const value = /[^\s"']+$/.exec(text.slice(Math.max(start, end - 200), end))?.[0] ?? '';
    return isSecretValue(value, kind, 'assigned', false)
      ? [{ start: end - value.length, end }]
      : NOTHING;
  };

/** echo … | chpasswd: behind a colon, if there is one. */
const piped: Judge = (text, start, end) => {
  const [, quote = '', written = ''] =
    /^(?:echo|printf) (?:-\w{1,3} )?(["']?)([^"'|]+)\1\s*\|/.exec(text.slice(start, end)) ?? [];
  const value = written.trim().slice(written.indexOf(':') + 1);
  const from = start + text.slice(start, end).indexOf(value);
  return isSecretValue(value, 'password', 'assigned', quote !== '')
    ? [{ start: from, end: from + value.length }]
    : NOTHING;
};

/** The second string in brackets, behind a user's name. */
const secondString: Judge = (text, start, end) => {
  const [, value = ''] = /["']([^"'\s]{6,128})$/.exec(text.slice(start, end)) ?? [];
  const isReal = isMixed(value) && isSecretValue(value, 'password', 'assigned', true);
  return isReal ? [{ start: end - value.length, end }] : NOTHING;
};

/** setApiKey("…"): letters alone are a name. */
const ofCall =
  (kind: SecretKind): Judge =>
  (text, _start, end) =>
    secretAt(text, end, kind).filter((found) => /\d/.test(text.slice(found.start, found.end)));

/** A value of ODBC in braces, behind another pair; `password={value}` alone is an attribute. */
const inBraces: Judge = (text, start, end) => {
  const value = /^([^{}\s]{4,128})\}(?:;|["']?$)/.exec(text.slice(end, end + 140))?.[1] ?? '';
  const isPair = /;[ ]?$/.test(text.slice(Math.max(0, start - 2), start));
  return isPair && isSecretValue(value, 'password', 'assigned', true)
    ? [{ start: end, end: end + value.length }]
    : NOTHING;
};

/** In prose, things are identified by their names; in SQL, a user by a password. */
const identifiedBy: Judge = (text, start, end) =>
  /^["']/.test(text.slice(end, end + 1)) ||
  /\b(?:user|role|grant|create|alter|login|to)\b/i.test(text.slice(Math.max(0, start - 100), start))
    ? secretAt(text, end, 'password')
    : NOTHING;

const LINE = String.raw`(?:\\\n|[^\n])*?`;

const COMMANDS: readonly JudgedExpression[] = [
  {
    expression: String.raw`\bgh secret set [A-Z_0-9]{2,60} (?:--\S{1,20} \S{1,60} ){0,3}(?:--body|-b)[ =]`,
    judge: behind('token'),
  },
  {
    expression: String.raw`\b(?:sshpass|mysql[a-z_]*|mariadb[a-z-]*|mongo[a-z]*|redis-cli|7z[arz]?|rar|unrar|zip|unzip|ipmi[a-z]+|[Pp]s[Ee]xec(?:64)?|cqlsh|sqlcmd|osql|bcp|tsql|mosquitto_[a-z]+|[wx]?freerdp|rdesktop|beeline|twine|racadm|esxcli|evil-winrm|crackmapexec|netexec|nxc|smbmap|ncftp[a-z]*|dsmadmc|winrs|signtool|login)\b${LINE} [-/](?:hp|[pPa])[ =:]?["']?[^\s"']{4}`,
    judge: option(options('-hp|[-/][pPa]')),
  },
  {
    expression: String.raw`\b(?:ldap(?:search|add|modify|delete|passwd|whoami|compare|modrdn)|plink|pscp|psftp|putty|kitty|mqtt|ssh-keygen|snmp[a-z]{3,12}|openssl (?:enc|aes|des|passwd)[a-z0-9-]*)\b${LINE} -(?:[wcAXNk]|pw|passwd)[ =]["']?[^\s"']{4}`,
    judge: option(options('-(?:[wcAXNk]|pw|passwd)')),
  },
  {
    expression: String.raw`\b(?:smbclient|rpcclient|winexe|smbget|wmic|net (?:rpc|ads)|pth-[a-z]+)\b${LINE} (?:-U|--user)[ =]?["']?[^\s"'%]{1,64}%[^\s"']{4,128}`,
    judge: behindSign('%'),
  },
  {
    expression: String.raw`\blftp\b${LINE} -u[ =]?["']?[^\s"',]{1,64},[^\s"']{4,128}`,
    judge: behindSign(','),
  },
  {
    expression: String.raw`\b(?:CONNECT|connect|CONN|conn|sqlplus|sqlldr|sqlcl|rman target|impdp|expdp|exp|imp)(?: -[a-zA-Z]{1,8}(?: \d{1,2}\.\d)?)* ["']?[A-Za-z][\w$#]{0,30}/["']?[^\s"'/@]{4,64}`,
    judge: behindSign('/'),
  },
  {
    expression: String.raw`\b(?:wandb login|vault login|cargo login|snyk auth|ngrok (?:config add-)?authtoken|nuget setapikey|hf auth login|huggingface-cli login|railway login|doppler configure set token|npm (?:config )?set \S+:_authToken|aws configure set \S+)(?: --?[a-z-]{1,24})* ["']?[A-Za-z0-9][^\s"']{11,199}`,
    judge: lastWord('token'),
  },
  {
    expression: String.raw`\b(?:wpa_passphrase ["']?[^\s"']{1,40}["']?|rabbitmqctl (?:add_user|change_password|authenticate_user) \S{1,40}|htpasswd (?:-[a-zA-Z]{1,4} ){1,3}(?:\S{1,80} )?\S{1,40}|net user \S{1,40}|radtest \S{1,40}|rclone obscure|mysqladmin [^\n]{0,80}password|net use (?:[A-Za-z]:|\*)? ?\S{3,120}(?: /user:\S{1,80})?|(?:smtp|imap|pop3)? ?AUTH \S{1,40}) ["']?[^\s"'/][^\s"']{3,128}`,
    judge: lastWord('password'),
  },
  {
    expression: String.raw`\b(?:echo|printf)\b [^\n|]{4,200}\| {0,3}(?:sudo )?(?:[\w.-]+ ){0,4}(?:chpasswd|-S\b|--stdin\b|--password-stdin\b|--passphrase-fd\b|--with-token\b|kinit\b|smbpasswd\b|su\b|cryptsetup\b)`,
    judge: piped,
  },
  {
    expression: String.raw`(?:--(?:password-)?stdin|--with-token|\b(?:sudo|su) -S|\bcryptsetup|\bpasswd|\bkinit|\bsmbpasswd)\b[^\n|<]{0,80}<<< ?["']?[^\s"']{4,128}`,
    judge: lastWord('password'),
  },
  {
    expression: String.raw`\b(?:https?|xh|ab)(?: [A-Z]{3,7}| -[a-z]+)* -[aA] ["']?[A-Za-z0-9_.@-]{1,64}:[^\s"':]{4,128}`,
    judge: behindSign(':'),
  },
  {
    expression: String.raw`\bjdbc:oracle:(?:thin|oci):[A-Za-z]\w{0,30}/[^\s"'/@]{4,64}`,
    judge: behindSign('/'),
  },
  {
    expression: String.raw`\bchpasswd\b[^\n]{0,12}(?:<<<|<<["' -]{0,3}EOF["']?\n) ?["']?[a-z_][a-z0-9_-]{0,31}:[^\s"']{4,128}`,
    judge: behindSign(':'),
  },
];

const STATEMENTS: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)\bidentified (?:with ["']?\w{1,40}["']? )?(?:by|as)(?: password| values)? `,
    judge: identifiedBy,
  },
  {
    expression: String.raw`(?i)\b(?:(?:alter|create) (?:user|role|login)\b[^\n;]{0,120}|set password\b[^\n;=]{0,120}= ?|with |encrypted )password ?=? ?\(?N?['"]`,
    judge: (text, _start, end) => secretAt(text, end - 1, 'password'),
  },
  {
    expression: String.raw`(?i)\b(?:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt|(?:en|de)cryptbypassphrase)\([^()'"\n]{0,80}(?:'[^'\n]{0,120}')?, ?`,
    judge: behind('password'),
  },
  {
    expression: String.raw`(?i)\bsp_add(?:login|user|linkedsrvlogin) N?'[^'\n]{1,60}', {0,2}`,
    judge: behind('password'),
  },
  { expression: String.raw`(?i)(?:pwd|password)=\{`, judge: inBraces },
];

const CONFIGURATION: readonly JudgedExpression[] = [
  {
    expression: String.raw`(?i)\b(?:requirepass|masterauth|sentinel auth-pass \S{1,40}|auth-pass|bind_?pw|olcrootpw:{0,2}|r[ow]community6?|snmp-server community|set snmp community|trap2?sink \S{1,60})[ \t]{1,16}`,
    judge: behind('password'),
  },
  // "SNMP community rw: …", `community-string = …`
  {
    expression: String.raw`(?i)\b(?:snmp(?:[ _-]?v?[123]c?)?[ _-]{0,2}(?:[a-z]{2,10}[ _-])?communit(?:y|ies)|community[ _-]string|(?:ro|rw|read|write|trap)[ _-]?community)(?:[ _-](?:string|name))?(?:[ (]{1,2}(?:ro|rw|read(?:[ -]?only)?|write|read[ -/]?write|trap)\)?)?["']?(?: (?:is|ist|est|es|lautet))?[ \t]{0,3}[:=]?[ \t]{1,3}`,
    judge: behind('password'),
  },
  {
    expression: String.raw`(?i)\b(?:enable (?:secret|password)|username \S{1,40}(?: privilege \d{1,2})? (?:secret|password)|neighbor \S{1,40} password|key-string|(?:tacacs|radius)(?:-server)?(?: \S{1,40}){0,3} key|isakmp key|pre-?shared-key(?: local| remote)?|psksecret|set passwd|set password|ppp (?:chap|pap) (?:password|sent-username \S{1,40} password)|(?:message-digest-key \d{1,3} md5|authentication-key)|wpa-psk ascii|line-password)(?: (?:level \d{1,2} )?[0-9])?[ \t]{1,4}`,
    judge: behind('password'),
  },
  // An access list of Redis: user … on >password.
  { expression: String.raw`(?i)\buser \S{1,40} on [^\n>]{0,60}>`, judge: behind('password') },
  {
    expression: String.raw`(?i)\bcreateUser \S{1,40} (?:MD5|SHA(?:-?\d{3})?) `,
    judge: behind('password'),
  },
];

/** A mixture that no name, version or path has. */
const isMade = (value: string): boolean =>
  isMixed(value) && /[a-z]/.test(value) && isSecretValue(value, 'password', 'adjacent', false);

/** What a program takes if nothing is configured: also a key of small letters. */
const defaultPart: Judge = (text, start, end) => {
  const value = /[0-9a-f]{32,64}$/.exec(text.slice(start, end))?.[0] ?? '';
  return new Set(value).size > 8
    ? [{ start: end - value.length, end }]
    : madePart(text, start, end);
};

/** The candidate's last part, if it is made up. */
const madePart: Judge = (text, start, end) => {
  const value = /[^\s"':=]+$/.exec(text.slice(start, end))?.[0] ?? '';
  return isMade(value) ? [{ start: end - value.length, end }] : NOTHING;
};

/** A key of thirty or so random characters in a URL. */
const inUrl: Judge = (text, start, end) => {
  const value = /^[A-Za-z0-9_-]{20,128}/.exec(text.slice(end, end + 128))?.[0] ?? '';
  const isKey = isMixed(value) && entropy(value) >= 3.5 && !isPlaceholder(value);
  const isUser = text.startsWith('https', start);
  return isKey && (!isUser || text[end + value.length] === '@')
    ? [{ start: end, end: end + value.length }]
    : NOTHING;
};

const digitsAtEnd: Judge = (text, start, end) => {
  const digits = /\d+$/.exec(text.slice(start, end))?.[0] ?? '';
  return [{ start: end - digits.length, end }];
};

/** "Ihr Bestätigungscode lautet 884213" */
const CODE_BEHIND =
  /^["']?(?:[ \t]?(?:is|ist|lautet|est|es|è|é|to|är|er|是|为|は|は：|는|은))?[ \t]?[:：=]?[ \t]{0,2}["']?(\d{4,8})(?![\d.,:/-]?\d)/;

const codeBehind: Judge = (text, _start, end) => {
  const [written, digits = ''] = CODE_BEHIND.exec(text.slice(end, end + 32)) ?? [];
  if (written === undefined || /^(?:19|20)\d\d$/.test(digits)) return NOTHING;
  const to = end + written.length;
  return [{ start: to - digits.length, end: to }];
};

/** Of a card; manuals have 123 there. */
const cardCode: Judge = (text, start, end) =>
  digitsAtEnd(text, start, end).filter(
    (one) => !/^(?:1234?|000|0000|111|999)$/.test(text.slice(one.start, one.end)),
  );

/** Behind a user's name: both cases, a digit and a sign. */
const madeOfAll: Judge = (text, _start, end) => {
  const value = /^[^\s:/@"'=,;]{8,64}/.exec(text.slice(end, end + 64))?.[0] ?? '';
  const hasAll = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!#$%&*?~^])/.test(value);
  return hasAll && isMade(value) ? [{ start: end, end: end + value.length }] : NOTHING;
};

/** `algoliasearch("…", "…")`; the candidate begins within the name. */
const clientKey: Judge = (text, start, end) =>
  /\b[a-z]\w{2,20}$/.test(text.slice(Math.max(0, start - 22), start))
    ? lastWord('token')(text, start, end)
    : NOTHING;

/** In prose and headers. */
const SAID: readonly JudgedExpression[] = [
  {
    expression: String.raw`\bmaster\.key\b[^\n]{1,12}?[0-9a-f]{32,64}\b`,
    judge: lastWord('token'),
  },
  {
    expression: String.raw`(?:[Ss]earch|[Cc]lient|[Ss]dk)\(["'][^"'\n]{4,60}["'], {0,2}["'][0-9a-f]{32,64}\b`,
    judge: clientKey,
  },
  {
    expression: String.raw`(?i)\b(?:basic_?auth|auth|creds?|credentials|login|user(?:name)?)\b["']?[ :=]{1,3}["']?[a-z][a-z0-9_.-]{1,31}[:%][^\s"'/:@=,;]{8,64}`,
    judge: madePart,
  },
  // define('DB_PASSWORD', '…'), getenv("DB_PASSWORD", "…"), env.DB_PASSWORD || '…'
  {
    expression: String.raw`(?i)(?:pass(?:word|wd|phrase)?|pwd|secret|token|api_?key|access_?key)["'\])]{0,2} {0,2}(?:,|\|\||\?\?|or) {0,2}["'][^"'\s:=]{8,128}`,
    judge: defaultPart,
  },
  {
    expression: String.raw`(?i)\b(?:(?:one[ -]?time|verification|security|login|unlock|access|2fa|mfa|sms|voicemail|door|gate|alarm)[ -](?:code|pin|passcode)|otp|puk2?)[ :#]{1,3}\d{4,8}\b`,
    judge: digitsAtEnd,
  },
  {
    expression: String.raw`(?i)(?:best[äa]tigungs|verifizierungs|sicherheits|einmal|verificatie|bevestigings|engångs|verifierings|bekræftelses|verifikasjons)[ck]ode?|\bcode de (?:v[ée]rification|confirmation|s[ée]curit[ée])|\bc[óo]digo de (?:verifica|confirma|seguran|segurid)[a-zà-ɏ]{0,6}|\bcodice di (?:verifica|conferma|sicurezza)|\bkod weryfikacyjny|doğrulama kodu|код подтверждения|验证码|認証コード|인증번호|인증 코드`,
    judge: codeBehind,
  },
  {
    expression: String.raw`(?i)\b(?:cvv2?|cvc2?)(?: code| is| ist| est| es)?[ :=]{1,3}\d{3,4}\b`,
    judge: cardCode,
  },
  {
    expression: String.raw`(?:^|[\s("'])(?:root|admin|administrator|sa|postgres|ubuntu|oracle|operator|guest|service):`,
    judge: madeOfAll,
  },
  {
    expression: String.raw`(?i)\bssid\b[^\n]{1,40}?(?:/|key|pass(?:word)?|pw|schlüssel|code)[ :=]{1,3}`,
    judge: behind('password'),
  },
  { expression: '[?&](?:key|apikey|api-key|auth|appid)=|https://', judge: inUrl },
  {
    expression: String.raw`(?i)\b(?:log|sign)(?:ged)?[ -]?(?:in|on) as \S{2,40} (?:with|using|and|/) (?:the )?(?:password )?[^\s"'/]{6,64}`,
    judge: (text, start, end) =>
      lastWord('password')(text, start, end).filter((word) =>
        isMixed(text.slice(word.start, word.end)),
      ),
  },
];

const CALLS: readonly JudgedExpression[] = [
  // Constants of PHP.
  {
    expression: String.raw`\bdefine\( ?["'][A-Z_]{0,40}(?:KEY|SALT|SECRET|TOKEN|PASS|PASSWORD)["'], {0,2}["']`,
    judge: (text, start, end) => ofCall('token')(text, start, end - 1),
  },
  {
    expression: String.raw`(?i)\bConvertTo-SecureString(?: -(?:String|AsPlainText|Force))*[ (]{1,2}`,
    judge: behind('password'),
  },
  {
    expression: String.raw`(?i)(?:set|with|change|reset|update)_?(?:pass(?:word|wd|phrase)?|pwd)\((?:[\w.$]{1,40}, {0,2}|["'][^"'\n]{1,60}["'], {0,2})?["']`,
    judge: (text, start, end) => ofCall('password')(text, start, end - 1),
  },
  {
    expression: String.raw`(?i)(?:set|with)_?(?:(?:api|access|auth|client|private|app|service|refresh|session|consumer|webhook|signing|bearer|secret)_?)?(?:key|token|secret|credential)\(["']`,
    judge: (text, start, end) => ofCall('token')(text, start, end - 1),
  },
  {
    expression: String.raw`(?i)(?:credentials?|(?:basic|digest|ntlm|proxy)_?auth|passwordauthentication|login|auth ?= ?|sign_?in|connect|authenticate|authenticator|connection|wifi\.begin|mysqli|pdo)\((?:[A-Za-z_$][\w$.]{0,40}, {0,2})?(?:["'][^"'\n]{1,120}["'], {0,2}){1,2}["'][^"'\s]{6,128}`,
    judge: secondString,
  },
];

export const ANNOUNCED: readonly JudgedExpression[] = [
  ...COMMANDS,
  ...STATEMENTS,
  ...CONFIGURATION,
  ...CALLS,
  ...SAID,
];
