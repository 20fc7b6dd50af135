/**
 * A password that answers a question for it: behind a dash, in the next line, in the next line of a
 * chat, in the next message of JSON. The question must ask for it, and the answer be nothing else.
 */
import { NOTHING, type Stretch } from '../builtin-pattern.ts';
import { isSecretValue } from '../validators/secret-value.ts';

const BREAK = String.raw`(?:\r?\n|\\+r\\+n|\\+n)`;
const TIME = String.raw`\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?: ?[APap]\.?[Mm]\.?)?`;
const NAME = String.raw`[^\n:=[\]()<>\\"?？]{1,30}`;
/** "[10:44] Ben: ", "Ben (10:44): ", "<ben> ", "Ben, 10:44" above the answer, "A: ". */
const SPEAKER = `(?:\\[?${TIME}\\]?[ \\t,-]{1,3})?(?:<${NAME}>|${NAME}(?:[ \\t,]{1,3}[\\[(]?${TIME}[\\])]?)?:|${NAME}[ \\t,]{1,3}[\\[(]?${TIME}[\\])]?${BREAK})`;
const LINE = `[ \\t]{0,4}(?:${BREAK}[ \\t>]{0,6}){1,3}(?:${SPEAKER}[ \\t]{0,3})?`;
/** The next message of JSON or of a document (../json-document.ts), which may say whose it is. */
const TEXT_OF_IT = 'content|text|message|body|value|answer|a|reply|response|msg';
const MESSAGE = String.raw`\\{0,3}"[\s\]}]{0,12},?[\s[{]{0,12}(?:\\{0,3}"\w{1,16}\\{0,3}" ?: ?\\{0,3}"[^"\\\n]{0,40}\\{0,3}" ?, ?){0,3}\\{0,3}"(?:${TEXT_OF_IT})\\{0,3}" ?: ?\\{0,3}"`;
const LEAF = String.raw`"\n\u2028\n(?:\w{1,16}: "[^"\n]{0,40}"\n\u2028\n){0,3}(?:${TEXT_OF_IT}): "`;
const DASH = String.raw`[ \t]{1,3}(?:[-–—:→][ \t]{1,3})?(?:(?:A|R|Answer|Antwort|R[ée]ponse|Respuesta|Risposta|Resposta|Odpowied[źz]):[ \t]{1,3})?`;
/** Of an answer: "it's still …". */
const SURE = String.raw`(?:(?:it['’]?s|it is|that['’]?s|sure|yes|yep|yeah|ok|okay|here|hi|still|now|should be|is|ja|klar|es ist|das ist|ist|oui|c['’]est|voil[àa]|s[íi]|es|claro|certo|è|é|sim|tak|jest|to|jo|det är|det er|het is|is|да|это|так|是|就是)[,:!.]{0,2}[ \t]{1,2}){0,3}`;
const ANSWER = new RegExp(
  `^([^\\n?？"\\\\]{0,60}?)(?:[?？][ \\t]?)?(?:(?<=[?？][ \\t]?)${DASH}|(?<=[?？])|${LINE}(?:[-–—•*][ \\t]{1,3})?|${MESSAGE}|${LEAF})${SURE}["'\`]?([^\\s"'\`,;\\\\?？]{6,64}?)["'\`]?[.!。]?[ \\t]{0,3}(?=$|[\\r\\n"]|\\\\+[nr"])`,
  'iu',
);

/** In quotes it may be several words: `the ftp pass? still "lobster bisque 06"`. */
const QUOTED_ANSWER = new RegExp(
  `^([^\\n?？"\\\\]{0,40}?)[?？][ \\t]{0,3}${DASH}${SURE}(["“„«'\`])([^"“”„«»'\`\\n]{6,64})["”“»'\`]`,
  'iu',
);

const ASKED =
  /(?<![\p{L}])(?:what['’]?s?|which|wie|was|welche[sr]?|lautet|quel(?:le)?s?|cu[áa]l|qu[ée]|qual['’]?|quale|cos['’]è|jakie|jaki|co|wat|welk|hva|hvad|vad|vilket|hvilken|mikä|mik[äa]s|jaké|milyen|mi|nedir|neydi|care|ce|apa|koja|kakšno|τι|ποιος|ποιο|какой|каков|який|яке)(?![\p{L}])|什么|什麼|多少|何|なん|教えて|뭐|무엇|뭔|알려/iu;
/** "password?": the question is little more than the label. */
const MAX_SHORT = 24;
/** What is asked is something about a password. */
const ABOUT_ONE =
  /polic|reset|manag|hint|field|page|rule|expir|rotat|length|long\b|prompt|strength|generat|hash|stor|encrypt|encod|format|call|nam(?:e|ed)\b|requir|valid|wrong|forg|chang|happen|mean|differ|allow|need|common|example|champ|règle|longueur|regel|länge|speicher|vergess|geänd|campo|regla|longitud|olvid|cambi|lunghezza|zasad|pol[íi]t|file\b|change/i;

const LETTER_AND_DIGIT = /(?=.*\p{L})(?=.*\d)/u;
/** A step, a version, a ticket, a place, a size. */
const OTHER =
  /^(?:[a-z]{2,3}-?\d{2,7}|[a-z]{2,10}-\d{2,7}|v?\d+(?:[.,:/-]\d+)+\w{0,4}|\p{L}{1,8}[-_#]\d{1,2}|(?:step|page|rule|option|version|level|chapter|room|port|line|issue|ticket|case|item|question)\d+|\d+\p{L}{1,6}|[\w.+-]+@[\w.-]+|[a-z]+:\/\/.*|.*\/.*\/.*|[\w-]+\.\p{L}{2,5}|(?:19|20)\d\d.*)$/iu;

/** The answer to a question for the password that the label names. */
export function inAnswer(text: string, labelStart: number, labelEnd: number): readonly Stretch[] {
  const window = text.slice(labelEnd, labelEnd + 300);
  const quoted = inQuotes(text, labelStart, labelEnd);
  if (quoted) return [quoted];
  const [written, rest = '', value = ''] = ANSWER.exec(window) ?? [];
  if (written === undefined || ABOUT_ONE.test(rest)) return NOTHING;
  const before = text.slice(Math.max(0, labelStart - 80), labelStart);
  const line = before.split(/\n|\\n|[.!?¿"“„]/).at(-1) ?? '';
  if (/forg[eo]t|reset|vergess|oubli|olvid|how (?:long|many|often)/i.test(line)) return NOTHING;
  const hasSign = /^[?？]/.test(window.slice(rest.length));
  const isShort = hasSign && line.length + rest.length <= MAX_SHORT;
  if (!isShort && !ASKED.test(`${line} ${rest}`)) return NOTHING;
  if (!LETTER_AND_DIGIT.test(value) || OTHER.test(value)) return NOTHING;
  if (!isSecretValue(value, 'password', 'prose', false)) return NOTHING;
  const start = labelEnd + written.lastIndexOf(value);
  return [{ start, end: start + value.length }];
}

function inQuotes(text: string, labelStart: number, labelEnd: number): Stretch | undefined {
  const [written, rest = '', , value = ''] =
    QUOTED_ANSWER.exec(text.slice(labelEnd, labelEnd + 180)) ?? [];
  const line =
    text
      .slice(Math.max(0, labelStart - MAX_SHORT), labelStart)
      .split('\n')
      .at(-1) ?? '';
  if (written === undefined || ABOUT_ONE.test(line + rest) || !LETTER_AND_DIGIT.test(value)) return;
  if (line.length + rest.length > 2 * MAX_SHORT || OTHER.test(value)) return;
  if (!isSecretValue(value, 'password', 'prose', true)) return;
  const end = labelEnd + written.length - 1;
  return { start: end - value.length, end };
}
