/**
 * Secrets whose label stands elsewhere: behind them, in the line of a chat before them, or in the
 * sentence before. Nothing assigns them, so that they must look made by a machine.
 */
import { type Judge, type JudgedExpression, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { entropy, isMixed, isSecretValue } from '../validators/secret-value.ts';

// "… is the new admin password", "use … as the password"
const SAID_BEFORE =
  /(?:^|\s)["']?([^\s"'`,;()<>]{8,64})["']? (?:is|as|for|at|into|becomes|will be|lautet|ist|als|für|am|bei|est|sera|comme|pour|es|como|para|è|come|per|é|is|voor|jest|jako|är|som|er) (?:the|your|my|our|his|her|new|das|dein|euer|unser|dem|beim|le|la|ton|votre|notre|el|tu|su|nuestra|il|o|a|de|het|mijn|ons|jouw|nowe|det|din)(?: [\p{L}\d-]{2,16}){0,3} $/iu;
/** What a sentence names beside a password is no password. */
const OF_IT =
  /^[ _-]?(?:hash|polic|manag|reset|stor|encod|encrypt|field|rule|check|valid|deriv|generat|algo|hint|length)/i;

/** A password before its label. */
export function saidBefore(text: string, labelStart: number, labelEnd: number): readonly Stretch[] {
  if (OF_IT.test(text.slice(labelEnd, labelEnd + 12))) return NOTHING;
  const window = text.slice(Math.max(0, labelStart - 130), labelStart);
  const said = SAID_BEFORE.exec(window);
  const value = said?.[1] ?? '';
  const isMade =
    isMixed(value) && /[a-z]/.test(value) && /[^\w.]|[A-Z].*[a-z].*\d|\d.*[a-z]/.test(value);
  if (!said || !isMade || !isSecretValue(value, 'password', 'adjacent', false)) return NOTHING;
  const start = labelStart - window.length + said.index + said[0].indexOf(value);
  return [{ start, end: start + value.length }];
}

const HEX = /^(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,128}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Small letters and digits; names in such letters have few digits. */
const isSmallKey = (value: string): boolean =>
  /^[a-z0-9]{20,}(?:-[a-z0-9]{6,}){0,4}$/.test(value) && (value.match(/\d/g)?.length ?? 0) >= 5;

/** A name in a program, or of a product: `validateMaxPBES2Count`, `WorkspaceLogin2024`. */
const isName = (value: string): boolean =>
  /[a-z]{6}/.test(value) &&
  ((value.match(/\d/g)?.length ?? 0) < 3 ||
    /^(?:[A-Z][a-z]{2,}|[A-Z]{2,5}|[a-z]{3,}|[-_])+(?:19|20)\d\d$/.test(value));

/** Whether a value without a label beside it can only be a key. */
function isKey(value: string): boolean {
  if (value.length < 16 || UUID.test(value) || isName(value)) return false;
  const isRandom = isMixed(value) && /[a-z]/.test(value) && entropy(value) >= 3.4;
  if (!isRandom && !HEX.test(value) && !(isSmallKey(value) && entropy(value) >= 3.4)) return false;
  return isSecretValue(value, 'token', 'assigned', false);
}

const OF_A_SECRET =
  /keys?(?![a-z])|tokens?(?![a-z])|secrets?(?![a-z])|passw|passphrase|credential|passwort|kennwort|schlüssel|zugangsdaten|contraseña|\bclave|credencial|\bclés?\b|jeton|mot de passe|identifiants|chiave|credenzial|\bsenha|\bchave|has[łl]o|klucz|wachtwoord|sleutel|lösenord|nyckel/i;
/** What else looks like a key. */
const OF_A_DIGEST =
  /idempotency|\bcach|primary|partition|duplicate|upload|hash|commit|digest|checksum|prüfsumme|\bsha-?\d*\b|\bmd5\b|revision|etag|fingerprint|uuid|trace|request[ -]?id|\bimage\b|layer|blob|object|snapshot|build|release|version|transaction|\btx\b|public/i;

/** Digits of a revision of git: of these, whatever is said before counts. */
const REVISION = /^[0-9a-f]{40}$/;
/** Behind a key that is a file's name: `access denied for key a/b.jpg`. */
const ENDING = /^\.[a-z][a-z0-9]{1,4}\b/i;

const BEFORE = 260;
const CLOSE = 60;

/** The candidate's last word, in a text about a secret. */
const keyAtEnd: Judge = (text, start, end) => {
  const [value = ''] =
    /[A-Za-z0-9_+/~-]+={0,2}$/.exec(text.slice(Math.max(start, end - 140), end)) ?? [];
  const from = end - value.length;
  const before = text.slice(Math.max(0, from - BEFORE), from);
  const close = REVISION.test(value) ? before : before.slice(-CLOSE);
  if (!isKey(value) || OF_A_DIGEST.test(close)) return NOTHING;
  return OF_A_SECRET.test(before) ? [{ start: from, end }] : NOTHING;
};

const OF_AN_ACCESS =
  /api|access|auth|secret|token|passw|pwd|cred|client|log|sign|4\d\d|anmeld|autent|denied|forbidden|revoked|replac|rotat|swap|durch|door|par\b|por\b/i;

/** The candidate's last word: the words before it tell enough. */
const keyOfLogin: Judge = (text, start, end) => {
  const [value = ''] =
    /[A-Za-z0-9_+/~-]+={0,2}$/.exec(text.slice(Math.max(start, end - 140), end)) ?? [];
  const from = end - value.length;
  if (!isKey(value) || ENDING.test(text.slice(end, end + 7))) return NOTHING;
  const said = text.slice(Math.max(start, from - CLOSE), from);
  if (OF_A_DIGEST.test(said)) return NOTHING;
  // A digest is called a key, too.
  if (/^[0-9a-f]+$/.test(value) && !OF_AN_ACCESS.test(said)) return NOTHING;
  return [{ start: from, end }];
};

// "does anyone have the key?\n[10:43] Sam: sure, …": the value is the next speaker's.
const REPLY =
  /^([^\n:=]{0,90})(?:\r?\n|\\+n)(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?(?: ?[AP]M)?[ \t-]{1,3})?<?[^\n:=[\]()<>\\]{1,30}(?:[[(]\d{1,2}:\d{2}[^\])\n]{0,6}[\])]:?|:|>)[ \t]{1,2}(?:\p{L}{1,12}[,:]? ){0,4}([^\s"'`,;\\]{12,128})/u;
const QUESTION =
  /[?¿？]|\b(?:what|which|again|send|give|share|remember|anyone|need|pasas?|manda|sabes|donne|envoie|schick|gib|wie|geef|stuur)\b/i;

/** `copper-lantern-drizzle-41` */
const isPhrase = (value: string): boolean =>
  /^\p{Ll}{3,12}(?:[-_.]\p{Ll}{3,12}){2,7}[-_.]?\d{1,4}$/u.test(value);

export function inReply(text: string, labelEnd: number): readonly Stretch[] {
  const window = text.slice(labelEnd, labelEnd + 300);
  const reply = REPLY.exec(window);
  const asked = text
    .slice(Math.max(0, labelEnd - 80), labelEnd)
    .split('\n')
    .at(-1);
  if (!reply || !QUESTION.test(`${asked} ${reply[1]}`)) return NOTHING;
  const value = reply[2] ?? '';
  const looksMade = isMixed(value) && /[a-z]/.test(value) && entropy(value) >= 3;
  const end = labelEnd + reply[0].length;
  return (looksMade && isSecretValue(value, 'password', 'prose', false)) ||
    isPhrase(value) ||
    isKey(value)
    ? [{ start: end - value.length, end }]
    : NOTHING;
}

/** What only a made-up password looks like: three kinds of characters. */
const isMade = (value: string): boolean =>
  isMixed(value) &&
  /[a-z]/.test(value) &&
  /[A-Z]/.test(value) &&
  entropy(value) >= 3 &&
  isSecretValue(value, 'password', 'prose', false);

// "Here is the token you asked for:\n\n…": the value is alone on a line below.
const ALONE =
  /^([^\n=;{}()\\]{0,140})(?:\r?\n|\\+n){1,2}[ \t>]{0,4}([A-Za-z0-9_+/~-]{16,128}={0,2})[ \t]{0,4}(?=[\r\n"']|\\+[nr"]|$)/;

// A password may have other signs, but an announced one only: "Here is the password:\n\n…"
const ALONE_BEHIND_COLON =
  /^([^\n=;{}()\\]{0,140}:)[ \t]?(?:\r?\n|\\+n){1,3}[ \t>]{0,4}([^\s"'`\\<>]{8,64})[ \t]{0,4}(?=[\r\n"']|\\+[nr"]|$)/;

export function aloneBelow(text: string, labelStart: number, labelEnd: number): readonly Stretch[] {
  const window = text.slice(labelEnd, labelEnd + 300);
  const announced = ALONE_BEHIND_COLON.exec(window);
  if (announced?.[2] && isMade(announced[2])) {
    const end = labelEnd + announced[0].trimEnd().length;
    return [{ start: end - announced[2].length, end }];
  }
  const [written, line = '', value = ''] = ALONE.exec(window) ?? [];
  if (written === undefined || !isKey(value)) return NOTHING;
  const said = `${text.slice(Math.max(0, labelStart - CLOSE), labelEnd)}${line}`;
  if (OF_A_DIGEST.test(said)) return NOTHING;
  const end = labelEnd + written.trimEnd().length;
  return [{ start: end - value.length, end }];
}

const QUOTE = '["\'`]?';
const VALUE = '[A-Za-z0-9_+~-][A-Za-z0-9_+/~-]{15,127}={0,2}';
const SECRET = '(?:key|token|secret|password|passwd|pwd|credentials?|pat)';

export const SAID_ELSEWHERE: readonly JudgedExpression[] = [
  // "Rotate the token … The new one is …"
  {
    expression: `(?i)\\b(?:(?:new|latest|current|right|correct|fresh|other) one(?: is|’s|'s)?|here (?:it is|you go)|it(?: is|['’]s)(?: now)?|(?:der|die|das) neue (?:ist|lautet)|(?:le nouveau|la nouvelle) (?:est|c['’]est)|voici|voilà|(?:el nuevo|la nueva) es|aquí está|il nuovo è|la nuova è|eccol[oa]|[oa] nov[oa] é|aqui está|de nieuwe is|now[ye] (?:to|jest)):? ${QUOTE}${VALUE}`,
    judge: keyAtEnd,
  },
  // "replaced relay_api_key by …", "RELAY_KEY durch … ersetzt"
  {
    expression: `(?i)\\b(?:replac(?:ed?|ing)|swapp(?:ed|ing)|exchanged|substituted|rotated|updated|changed|switched|remplacé|remplacer|sustituid[oa]|cambiad[oa]|sostituit[oa]|substituíd[oa]|trocad[oa]|vervangen|zamienion[aoey])\\b[^\\n]{0,60}?${SECRET}s?\\b[^\\n]{0,24}? (?:by|with|to|for|par|por|con|da|door|na) ${QUOTE}${VALUE}`,
    judge: keyOfLogin,
  },
  {
    expression: `(?i)${SECRET}(?: durch| door| par| por) ${QUOTE}${VALUE}`,
    judge: keyOfLogin,
  },
  // "We authenticate with …"
  {
    expression: `(?i)\\b(?:authenticat(?:e|es|ed|ing)|authori[sz](?:e|es|ed|ing)|log(?:s|ged|ging)? ?in|sign(?:s|ed|ing)? ?in|authentifi\\w{2,8}|autentic\\w{2,8}|anmeld\\w{1,4}|angemeldet|einloggen|aanmelden|inloggen|loguj\\w{1,4})(?: [\\w.-]{1,20}){0,4} (?:with|using|by|mit|über|avec|con|com|met|med|via) (?:[a-z]{1,8} ){0,3}${QUOTE}${VALUE}`,
    judge: keyOfLogin,
  },
  // "AuthError: 401 for key …"
  {
    expression: `(?i)\\b(?:401|403|unauthori[sz]ed|forbidden|auth(?:entication)?[ _]?(?:error|failed|failure)|access denied|invalid|rejected|revoked|expired)\\b[^\\n]{0,60}? ${SECRET}:? ${QUOTE}${VALUE}`,
    judge: keyOfLogin,
  },
];
