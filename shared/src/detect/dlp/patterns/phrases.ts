/**
 * Passphrases that a sentence says: "the password of the backup is copper lantern drizzle harbor,
 * ask Ana". Whether the words are one or continue the sentence, they tell themselves
 * (../validators/sentence-words.ts); phrases.test.ts has ordinary sentences of ten languages.
 */
import type { Stretch } from '../builtin-pattern.ts';
import { identifierAround, identifierEnd } from '../fields.ts';
import { areUnrelatedInCyrillic } from '../validators/cyrillic-words.ts';
import { isUnrelatedWords } from '../validators/secret-value.ts';
import { areUnrelated } from '../validators/sentence-words.ts';

const LETTER = '[a-z\\u00df-\\u024f]';
const WORD = `${LETTER}{3,12}`;
/** A sign, a bracket, a line's end, also escaped; in Japanese, the word that ends the sentence. */
const END = String.raw`(?=[ \t]?[,.;:!?()[\]{}"'»”」。、，！<|]|[ \t][—–-]|[ \t]{0,4}(?:$|[\r\n]|です|だ|\\+[nr"]))`;
const PHRASE = new RegExp(`^["']?(${WORD}(?: ${WORD}){2,6}|${WORD}(?:-${WORD}){2,6})${END}`);
/** Behind "passphrase", each word may begin with a capital letter. */
const CAPITAL = `[A-Z]?${WORD}`;
const CAPITALS = new RegExp(`^["']?(${CAPITAL}(?:[ _-]${CAPITAL}){3,6})${END}`);
const MAX_PHRASE = 110;

/** How far behind its label the words begin. */
const MAX_GAP = 80;
const GAP = /^(?:[^\n.!?:=;,"“「|<>(){}[\]]|(?<=\d)\.(?=\d))*/;
const IS =
  "is|was|are|remains|ist|war|lautet|heißt|est|c['’]est|es|era|sigue siendo|è|era|é|era|jest|brzmi|är|er|este|je";
const NOW =
  'now|still|currently|again|jetzt|nun|neu|maintenant|désormais|ahora|adesso|ora|agora|nu|teraz|nå';
const CHANGED =
  '(?:re)?set|changed|updated|rotated|gesetzt|geändert|changé|modifié|cambiad[oa]|cambiat[oa]|alterad[oa]|gewijzigd|veranderd|zmienione|ustawione|ændret|endret|ändrat';
const TO = 'to|auf|in|en|par|por|a|para|naar|op|na|til|till';
const LINK = new RegExp(
  `[ \\t](?:(?:${IS})(?:[ \\t](?:${NOW}))?(?:[ \\t](?:${CHANGED})[ \\t](?:${TO}))?|(?:${CHANGED})[ \\t](?:${TO}))[ \\t]{1,2}|(?:は|是|为)[ \\t]?`,
  'g',
);
/** Words of one language that mean others elsewhere. */
const OWN_LINKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^has[łl]/i, /[ \t]to[ \t]{1,2}/g],
  [/^salasana/i, /[ \t]on[ \t]{1,2}/g],
];
/** "Password for the backup: …"; without a verb, four words or more. */
const SIGN = /^[ \t]?(?::|：|[—–-](?=[ \t]))[ \t]{1,3}/;
const MIN_BEHIND_SIGN = 4;
/** "passphrase, type: …", "password, all lower case: …" */
const NOTED = /^,[ \t][^\n.!?:=;,"“「|<>(){}[\]]{2,44}:[ \t]{1,3}/;
const NOTE =
  /type|lower|case|caps|letters|spell|exact|spaces|enter|klein|buchstab|leerzeichen|genau|tipp|minus|espac|majus|spazi|spatie|liter|spacj/i;
/** "passphrase:" and its words in several lines. */
const LINES = new RegExp(
  `^["']?[ \\t]{0,2}[:：][ \\t]{0,2}\\r?\\n([ \\t>]{0,8}${WORD}(?: ${WORD}){0,3}(?:[ \\t]{0,2}\\r?\\n[ \\t>]{1,8}${WORD}(?: ${WORD}){0,3}){1,5})(?=[ \\t]{0,2}(?:\\r?\\n|$))`,
);
const MAX_LINES = 200;

/** What has digits only, verbs, and words that mean other things, too. */
const NOT_FOR_WORDS =
  /(?:^|[_-])(?:pass|pin|ps?k|puk2?|cv[vc]2?|otp|code)$|^pin|cod[eio]|^kod|^parola$|^clave$/i;
/** "the password policy is …": what the words tell is about something else. */
const OF_A_PASSWORD =
  /polic|reset|manag|hint|field|page|form|rule|expir|rotat|length|prompt|protect|vault|strength|generat|hash|question|polít|politi|richtlinie|feld\b|länge|regel|verwalt|gestionnaire|gestione?\b|gestor|champ\b|campo|règle|longueur|longitud|lunghezza|beleid|polityk|zasad|eingabe|abfrage|änderung|change\b|protocol|file\b|service\b/i;
/** In Turkish the verb ends the sentence, and nothing stands between a label and its value. */
const TURKISH = /^(?:[şs]ifre|parola)(?:si|s[ıi]|m[iı]z|n[iı]z)$/i;
const TURKISH_VERB =
  /(?:d[iıuü](?:r|k|m|n|l[ae]r)?|t[iıuü]r?|m[iıuü][şs]|yor|[ae]ca[kğ]|[ae]ce[kğ]|m[ae]l[iı]|s[iı]n(?:[iı]z)?|(?:ver|et|ed|yap|gir|al|sor|yaz|tir|tır|der|le|la)(?:y?[iı]n)(?:[iı]z)?|m[ae]z|[iıuü]r|[iıuü]yor|s[ae]|k[iı])$/;

/** The words of a label's sentence that are its value; undefined if it has none. */
export function phraseSaid(text: string, start: number, end: number): Stretch | undefined {
  const label = identifierAround(text, start, end);
  const from = identifierEnd(text, end);
  // A longer word is something else: Passwortregeln.
  if (from - end > 4 || NOT_FOR_WORDS.test(label)) return undefined;
  if (TURKISH.test(label)) return turkishPhrase(text, from);
  if (CYRILLIC_LABEL.test(text.slice(start, end))) return cyrillicPhrase(text, end);
  const gap = GAP.exec(text.slice(from, from + MAX_GAP))?.[0] ?? '';
  for (const link of links(label, gap)) {
    if (OF_A_PASSWORD.test(gap.slice(0, link.index))) return undefined;
    const found = phraseAt(text, from + link.index + link[0].length);
    if (found) return found.stretch;
  }
  const isPhrase = /phrase/i.test(label);
  const inLines = isPhrase ? phraseInLines(text, from) : undefined;
  if (inLines) return inLines;
  const behind = text.slice(from + gap.length, from + gap.length + 56);
  const noted = NOTED.exec(behind)?.[0];
  const sign = SIGN.exec(behind)?.[0] ?? (noted && (isPhrase || NOTE.test(noted)) ? noted : '');
  if (sign === '' || OF_A_PASSWORD.test(gap)) return undefined;
  const at = from + gap.length + sign.length;
  const found = phraseAt(text, at, isPhrase ? CAPITALS : PHRASE);
  return found && found.words.length >= MIN_BEHIND_SIGN ? found.stretch : undefined;
}

function links(label: string, gap: string): readonly RegExpExecArray[] {
  const own = OWN_LINKS.find(([expression]) => expression.test(label))?.[1];
  return [...gap.matchAll(LINK), ...(own ? gap.matchAll(own) : [])];
}

function phraseAt(
  text: string,
  at: number,
  form = PHRASE,
): { readonly stretch: Stretch; readonly words: readonly string[] } | undefined {
  const [written, phrase] = form.exec(text.slice(at, at + MAX_PHRASE)) ?? [];
  if (written === undefined || phrase === undefined) return undefined;
  const words = phrase.toLowerCase().split(/[ _-]/);
  if (!areUnrelated(words)) return undefined;
  const start = at + written.length - phrase.length;
  return { stretch: { start, end: start + phrase.length }, words };
}

const CYRILLIC_LABEL = /^\p{Script=Cyrillic}/u;
const CYRILLIC = '[а-яёіїєґ]{3,14}';
/** "Парольная фраза от архива — …": the words behind a dash or colon, to the end of the line. */
const CYRILLIC_PHRASE = new RegExp(
  `^[а-яёіїєґ]{0,4}(?:[ \\t][^\\n—–:=.,;-]{1,40}?)?[ \\t]?(?::|[—–-](?=[ \\t]))[ \\t]{1,3}["'«]?(${CYRILLIC}(?:[ -]${CYRILLIC}){3,6})${END}`,
);

function cyrillicPhrase(text: string, end: number): Stretch | undefined {
  const [written, phrase = ''] = CYRILLIC_PHRASE.exec(text.slice(end, end + 170)) ?? [];
  if (written === undefined || !areUnrelatedInCyrillic(phrase.split(/[ -]/))) return undefined;
  return { start: end + written.length - phrase.length, end: end + written.length };
}

function phraseInLines(text: string, from: number): Stretch | undefined {
  const [written, lines = ''] = LINES.exec(text.slice(from, from + MAX_LINES)) ?? [];
  const words = lines.split(/[\s>]+/).filter((word) => word !== '');
  if (written === undefined || words.length < MIN_BEHIND_SIGN || words.length > 12)
    return undefined;
  if (!areUnrelated(words)) return undefined;
  const start = from + written.length - lines.trimStart().length;
  return { start, end: from + written.length };
}

function turkishPhrase(text: string, from: number): Stretch | undefined {
  const [space] = /^[ \t]{1,2}/.exec(text.slice(from, from + 2)) ?? [];
  const found = space === undefined ? undefined : phraseAt(text, from + space.length);
  if (found === undefined || found.words.length < MIN_BEHIND_SIGN) return undefined;
  return TURKISH_VERB.test(found.words.at(-1) ?? '') ? undefined : found.stretch;
}

const WORDS_OF_A_LINE = /^\p{Ll}{4,12}(?:[ -]\p{Ll}{4,12}){3,7}(?=[.,;]?(?:["'\n]|\\+["nr]|$))/u;

/** An unquoted phrase that ends its line: "password: copper lantern drizzle harbor". */
export function phraseOfLine(text: string, start: number): Stretch | undefined {
  const phrase = WORDS_OF_A_LINE.exec(text.slice(start, start + 120))?.[0];
  if (phrase === undefined || !isUnrelatedWords(phrase)) return undefined;
  const words = phrase.split(/[ -]/);
  if (!areUnrelated(words)) return undefined;
  // Words that look Latin in part are read as they stand, too.
  const isCyrillic = /\p{Script=Cyrillic}/u.test(phrase);
  if (isCyrillic && (/[a-z]/.test(phrase) || !areUnrelatedInCyrillic(words))) return undefined;
  return { start, end: start + phrase.length };
}
