/**
 * The value that belongs to a label in a text: `label: value`, `"label": "value"`,
 * `<label>value</label>`, `label is value`, a column below it, a position in VALUES (…). Every
 * expression here runs on a slice of bounded length, so that a scan stays linear.
 */
import { columnValues } from './columns.ts';
import { type FieldValue, type Link, MAX_VALUE } from './field-value.ts';

/** Limits on the distance of a value from its label. */
const MAX_GAP = 96;
const MAX_BLOCK = 400;

const WORD = /[A-Za-z0-9_$\-\u00c0-\u024f]/;

/** The whole identifier that contains a label: `DB_PASSWORD_PROD` for `PASSWORD`. */
export function identifierAround(text: string, start: number, end: number): string {
  let from = start;
  while (from > 0 && start - from < 40 && WORD.test(text[from - 1] ?? '')) from--;
  // In JSON within a text, a line feed before the name is written `\n`.
  if (/^\\[nrt]\w/.test(text.slice(Math.max(0, from - 1), from + 2))) from++;
  return text.slice(from, identifierEnd(text, end));
}

/** Where the identifier that begins or goes on there ends. */
export function identifierEnd(text: string, end: number): number {
  let to = end;
  while (to < text.length && to - end < 40 && WORD.test(text[to] ?? '')) to++;
  return to;
}

// Closing quotes and brackets, a comment in brackets, a type (`: string =`), then the sign; in YAML
// an anchor may stand behind it.
const ASSIGNED =
  /^(?:\\{0,2}["'`\])*_}]){0,3}[ \t]{0,12}(?:\([^()\n]{0,40}\)[ \t]{0,3})?(?::? ?&?(?:string|String|str|char\*?|text|const)(?:\[\])?[ \t]?(?==))?(?:=>|:=|->|={1,3}|:(?!:)|::(?=[ \t])|：|＝|→|⇒|\|)[ \t]{0,12}(?:\*{1,2}[ \t]?)?(?:\r?\n[ \t]{1,16})?(?:&[A-Za-z_][\w-]{0,40}[ \t]{1,2}(?=[^\s&|]{6}))?/;
const XML =
  /^(?:[^<>\n"]{0,40}|(?:\s{1,4}[\w:.-]{1,30}=\\?"[^"<>\n]{0,160}"){1,3}\s?)>\s{0,12}(?:<(?:[a-z]{1,6}|(?:\w{1,12}:)?(?:[Vv]alue|VALUE|[Ss]tring|[Tt]ext|[Cc]ontent|[Dd]ata|[Pp]laintext|[Ss]ecret|[Ll]iteral))(?: [^<>\n]{0,60})?>\s{0,12})?(?:<!\[CDATA\[)?(?!@)/;
/** Elsewhere the sign behind other words may be a comparison: `f.pass.debug > limit`. */
const IN_TAG = /<[A-Za-z!?/][^<>]*$/;
const MAX_TAG = 160;
// <property name="db.password">…</property>
const XML_NAME = /\b(?:name|key|id)=\\?["'][^"'<>\n]{1,80}$/i;
const XML_NAMED =
  /^\\?["'][^<>\n]{0,60}>\s{0,12}(?:<(?:value|string|text|data)>\s{0,12})?(?:<!\[CDATA\[)?/i;
const CELLS =
  /^[^<>\n]{0,20}<\/(?:td|th|dt|b|strong|label|span|key|name)>\s{0,8}(?:(?:<(?:td|dd|span|string|data|value)[^<>]{0,30}>\s{0,8}){1,2}(?:<!\[CDATA\[)?|<input\b[^<>]{0,60}?\bvalue=\\?["']|:?[ \t]{0,3})/;
// {"name": "password", "value": "…"}, <add key="password" value="…"/>, - name: X, value: …
const PAIR =
  /^(?:\\?["'`])?[ \t]{0,4},?\s{0,16}(?:(?:\\?["'])?(?!(?:name|key|id)\b)[A-Za-z_]{2,20}(?:\\?["'])?:[ \t]?(?:true|false|null|\d{1,9}|\\?["'][^"'\n]{0,48}["'])\s{0,3}(?:,\s{0,16}|\s{1,16})){0,3}?(?:\\?["'`])?(?:value|Value|VALUE|val|content|default|v|wert|valor|valeur)(?:\\?["'`])?[ \t]{0,3}[:=][ \t]{0,3}/;
// variable "api_key" { … default = "…"
const BLOCK =
  /^["']?\s{0,3}\{\s{0,12}(?:(?:type|description|sensitive|nullable|ephemeral)\s{0,12}=[^\n]{0,160}\n\s{0,12}){0,4}(?:default|value)\s{0,12}=\s{0,4}/;
// A full stop behind a digit ends no sentence: "im 2. OG", "room 3.12".
// "client_secret": { "sensitive": true, "value": "…"
const OF_OBJECT =
  /^\\?["']?\s{0,3}[:=]\s{0,3}\{\s{0,24}(?:\\?["']?(?:(?:sensitive|description|secure|hidden|encrypted)\\?["']?\s{0,3}[:=]\s{0,3}(?:[a-z]{2,8}|\\?"[^"\n]{0,80}")|type\\?["']?\s{0,3}[:=]\s{0,3}\\?"?(?:string|text|secret|secure\w{0,8}|password|plain\w{0,8})\\?"?),\s{0,24}){0,4}\\?["']?[Vv]alue\\?["']?\s{0,3}[:=]\s{0,3}(?=\\?["'])/;
// The word that joins a label and its value, and what may stand behind it: "is now", "changed to".
const STRONG =
  "is|was|are|will be|would be|should be|must be|has become|becomes|became|remains|stays|reads|equals|it['’]s|has been|este|va fi|ist|war|wird|wäre|bleibt|lautet|heißt|est|c['’]est|sera|devient|reste|es|era|será|queda|quedó|sigue siendo|pasa a ser|pasó a ser|è|sarà|diventa|diventerà|resta|rimane|é|ficou|fica|vai ser|passou a ser|continua|wordt|werd|luidt|blijft|jest|będzie|brzmi|pozostaje|är|blir|blev|lyder|heter|er|bliver|byl|je|bude|zní|ialah|adalah|menjadi|là|теперь|будет|стал|это|сейчас|тепер|είναι|هي|היא|है";
const WEAK = 'to|als|as|auf|zu|à|a|on|is:|using|with|mit|être|na|lett|artık|artik|на|mostantól|nyt';
const IS = `${STRONG}|${WEAK}`;
const NOW =
  'this|these|questo|questa|the following|dieser|dieses|celui-ci|celle-ci|este|esta|now|still|currently|again|jetzt|nun|ab sofort|neu|nu|désormais|maintenant|ahora|adesso|ora|agora|teraz|nyt|nå|teď|acum|artık|henceforth|from now on|simply|just';
// What else stands between them: "is by the way", "lautet übrigens", "est d'ailleurs".
const BESIDES =
  "by the way|btw|incidentally|actually|apparently|presently|temporarily|for now|as of today|as always|übrigens|nämlich|aktuell|derzeit|momentan|zurzeit|inzwischen|mittlerweile|weiterhin|immer noch|seit heute|seit gestern|vorerst|eigentlich|d['’]ailleurs|au fait|actuellement|toujours|encore|en fait|pour l['’]instant|dorénavant|por cierto|actualmente|todavía|aún|por ahora|desde hoy|de momento|tra l['’]altro|attualmente|ancora|per ora|ormai|aliás|por sinal|atualmente|ainda|por enquanto|a partir de hoje|overigens|trouwens|momenteel|voortaan|nog steeds|tegenwoordig|vanaf nu|zresztą|obecnie|nadal|wciąż|aktualnie|od dziś|förresten|numera|fortfarande|från och med nu|forresten|for øvrigt|i øvrigt|fortsatt|fortsat|stadig|fremover|mimochodem|nyní|stále|momentálně|od teď|mellesleg|egyébként|mostantól|muuten|şu an|de altfel|în prezent|de acum|кстати|сейчас|теперь|пока|до сих пор|зараз|тепер|до речі";
const CHANGED =
  '(?:(?:re)?set|changed|updated|rotated|switched|gewijzigd|veranderd|aangepast|ge[äa]ndert|gesetzt|umgestellt|changé|modifié|cambiad[oa]|cambiat[oa]|alterad[oa]|trocad[oa]|zmienion[eyo]|ustawion[eyo]|ændret|ändrat|ändrades|endret|změněno|сменили|сменил|изменили|изменён|поменяли)[ \\t](?:to|in|naar|op|auf|zu|en|par|pour|por|a|para|na|til|till|на)[ \\t]{1,2}';
const LETTERS = 'A-Za-z\\u00c0-\\u024f\\u0370-\\u04ff';
const linkOf = (verbs: string): string =>
  `(?:(?:${verbs})(?![${LETTERS}])[ \\t]{0,2}(?:,?[ \\t]?(?:${NOW}|${BESIDES})(?:,[ \\t]{0,2}|[ \\t]{1,2}|(?=:))){0,2}(?::[ \\t]{0,2})?(?:${CHANGED})?|${CHANGED})`;
const PROSE = new RegExp(
  `^(?:["'\`)]{0,2}(?:[^\\n.!?:=;]|(?<=\\d)\\.(?=[ \\t]?\\S)){0,48}?[ \\t])?${linkOf(IS)}`,
);
/** What a sentence says of its label, however many words join others in it. */
const SENTENCE = /^["'`)]{0,2}(?:[^\n.!?:=;]|(?<=\d)\.(?=[ \t]?\S)){0,84}/;
const VERB = new RegExp(`(?<=[ \\t])${linkOf(STRONG)}`, 'g');
const MAX_VERBS = 3;
/** A value that only a made-up password can be, whatever joins it with its label. */
const MADE_UP = String.raw`(?=[A-Za-z0-9][^\s/]{7,63}(?:\s|$))(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)(?=\S*[!#$%&*?~^])`;
const LATER = new RegExp(`(?<=[ \\t])(?:${WEAK})[ \\t]{1,2}${MADE_UP}`, 'g');
// "password we agreed on, for the time being: …"
const LATER_SIGN = new RegExp(`^[^\\n:=.!?;"'<>()[\\]{}|]{2,60}[ \\t]?:[ \\t]{1,3}${MADE_UP}`);
// "the password's …"
const SHORT_IS = /^['’]s[ \t]{1,2}/;
// "Password for the server: …", "contraseña nueva de la VPN: …", "mot de passe de l'agence : …"
const FOR =
  /^["']?(?:[ \t](?:wi-?fi|wlan|vpn|new|old|temporary|temp|current|guest|neu|aktuell|nouveau|actuel|provisoire|temporaire|initial|ancien|nuev[ao]|actual|temporal|provisional|viej[ao]|antigu[ao]|nov[ao]|atual|tempor[áa]ri[ao]|provis[óo]ri[ao]|nuov[ao]|attuale|provvisori[ao]|vecchi[ao]|nieuwe?|tijdelijke?|nowe|obecne|tymczasowe|stare|nové|nytt|nya|nye|invit[ée]s?|invitad[oa]s?|visit(?:antes|eurs)|ospiti|gäste|gasten)){0,2}[ \t](?:for|für|fuer|of|on|der|des|zu|zum|vom|von|de|du|d['’]|del|della|dell['’]|para|pour|voor|per|do|da|dla|k|ke|til|till|от|для|к)(?:[ \t]|(?<=['’]))(?:[^\n:=.!?;"']|(?<=\d)\.(?=[ \t]?\S)|(?<=\p{L})'(?=\p{L})){1,40}[ \t]?(?:[:=]|[-=]>|→)[ \t]{1,3}/u;
// "credential used: …"
const SAID =
  /^[ \t](?:used|sent|given|provided|received|supplied|tried|value|is now|verwendet|utilisée?|usad[oa])[ \t]?[:=][ \t]{0,3}/;
// "password, letter by letter: …"
const LETTER_BY_LETTER =
  /^,?[ \t][(]?(?:spelled|spelt|(?:letter|character|char|digit) (?:by|for) (?:letter|character|char|digit)|one (?:letter|character) at a time|buchstabiert|(?:buchstabe|zeichen) für (?:buchstabe|zeichen)|épelé|(?:lettre|caractère) par (?:lettre|caractère)|deletread[oa]|letra (?:por|a) letra|carácter (?:por|a) carácter|soletrad[oa]|lettera per lettera|carattere per carattere|gespeld|letter voor letter|teken voor teken|litera po literze|znak po znaku|bokstav för bokstav|tecken för tecken|bogstav for bogstav|bokstav for bokstav|harf harf|písmeno po písmenu|kirjain kerrallaan|по буквам|逐字|逐个字符|一文字ずつ)[^\n:=：]{0,24}[:=：][ \t]{1,3}/i;
// "password, all lower case: …", "Passwort, Groß- und Kleinschreibung beachten: …"
const NOTE_ON_CASE =
  /^["']?[,;]?[ \t]{1,2}(?:[–—-] )?[(]?[^\n:=.]{0,24}(?:case|caps|small letters|capital|klein|gro(?:ß|ss)|minuscul|majuscul|mayúscul|minúscul|maiúscul|maiuscol|minuscol|hoofdletter|małymi|wielk|gemener|versaler|små bokst|små bogst|regist|büyük|küçük|(?:no|without) spaces|ohne leer|sans espace|sin espacios)[^\n:=.]{0,30}[:：][ \t]{1,3}/i;
// "mot de passe provisoire : …", "Passwort neu = …"
const OF_A_KIND = /^[ \t]\p{L}{2,16}(?:[ \t]\p{L}{2,16})?[ \t]?[:=][ \t]{1,3}(?=\S{0,64}\d)/u;
// "登录密码改成 …", "パスワードは今日から …", "비밀번호를 …"
const CJK_CHANGED =
  /^["'」』]?[^\p{ASCII}策长長強强规規期度法式格哈次数]{0,6}?(?:改成|改为|改為|设为|設為|设成|设置为|设置成|换成|換成|更换为|更新为|重置为|重置成|变成|變成|变为|定为|还是|仍是|就是|统一为|统一是|默认为|默认是|初始为|用的是|今は|今日から|新しく|를|을)了?[ \t]{0,3}[:：]?[ \t]{0,3}/u;
const CJK = /^["'」』]?[ \t]{0,2}(?:は|是|为|為|が|を|：|は、|는|은|이|:(?!:))[ \t]{0,3}/;
const ADJACENT =
  /^["'`]?(?:[ \t](?:wifi|wlan|vpn|root|admin)(?=[ \t]))?(?:[ \t]{1,4}|[ \t]{0,3}\n[ \t]{0,8})(?:#[ \t]?|no\.?[ \t]|nr\.?[ \t]|n°[ \t]?)?/i;

/** The possible values of a label, most certain first. */
export function fieldValues(text: string, labelEnd: number): FieldValue[] {
  const from = identifierEnd(text, labelEnd);
  const gap = text.slice(from, from + MAX_GAP);
  const values: FieldValue[] = [];
  const addAt = (length: number, link: Link): void => {
    const value = valueAt(text, from + length, link);
    if (value && !values.some((known) => known.start === value.start)) values.push(value);
  };
  const add = (match: RegExpExecArray | null, link: Link): void => {
    if (match) addAt(match[0].length, link);
  };
  add(PAIR.exec(gap), 'assigned');
  add(ASSIGNED.exec(gap), 'assigned');
  const isTag = gap[0] === '>' || IN_TAG.test(text.slice(Math.max(0, from - MAX_TAG), from));
  if (isTag) add(XML.exec(text.slice(from, from + MAX_BLOCK)), 'assigned');
  if (XML_NAME.test(text.slice(Math.max(0, from - 100), from)))
    add(XML_NAMED.exec(gap), 'assigned');
  if (/^\\?["']?\s{0,3}[:=]?\s{0,3}\{/.test(gap)) {
    const block = text.slice(from, from + MAX_BLOCK);
    add(BLOCK.exec(block), 'assigned');
    add(OF_OBJECT.exec(block), 'assigned');
  }
  add(CELLS.exec(gap), 'assigned');
  add(CJK.exec(gap), 'assigned');
  add(CJK_CHANGED.exec(gap), 'prose');
  values.push(...columnValues(text, from));
  add(PROSE.exec(gap), 'prose');
  const said = SENTENCE.exec(gap)?.[0].length ?? 0;
  let verbs = 0;
  for (const { index, 0: verb } of gap.matchAll(VERB)) {
    if (index > said || verbs++ === MAX_VERBS) break;
    addAt(index + verb.length, 'prose');
  }
  for (const { index, 0: link } of gap.matchAll(LATER)) {
    if (index <= said) addAt(index + link.length, 'prose');
  }
  add(LATER_SIGN.exec(gap), 'adjacent');
  add(SHORT_IS.exec(gap), 'prose');
  add(LETTER_BY_LETTER.exec(gap), 'prose');
  add(NOTE_ON_CASE.exec(gap), 'prose');
  add(FOR.exec(gap), 'prose');
  add(SAID.exec(gap), 'prose');
  add(OF_A_KIND.exec(gap), 'adjacent');
  add(ADJACENT.exec(gap), 'adjacent');
  return values;
}

const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '„': '“',
  '«': '»',
  '‘': '’',
  '「': '」',
  '『': '』',
};

const MAX_OPENING = 80;
/** What wraps a literal: `String::from("…")`, `[]byte("…")`, `new Secret("…")`, `b'…'`. */
const OF_A_STRING =
  /^[ \t]{0,4}(?:(?:new |&)?(?:\[\]byte|(?:std::|secrecy::|pydantic\.|java\.lang\.|System\.)?(?:Some|Ok|Just|Box|Arc|Rc|Q?String|NSString|std::string|str|string|text|bytes|bytearray|Bytes|ByteString|Buffer|Uint8Array|Secret(?:Str|String|Bytes|Box|Vec|Value|KeySpec)?|Secure_?String|Sensitive|Redacted|Protected|Obfuscated|Password|Zeroizing|Cow|CString|Hex|hex|binascii|Convert|TextEncoder\(\)|Encoding\.(?:UTF8|ASCII)|Utf8|OsString)(?:(?:::|\.)(?:new|from|from_str|of|wrap|valueOf|copyFromUtf8|encode|decode|DecodeString|fromhex|unhexlify|FromHexString|GetBytes|create))?|bytes\.fromhex|(?:hex|secret|obfstr)!|crypto\.createSecretKey)\([ \t]{0,4}){1,3}(?=(?:[brufBRUL]{1,2}|@)?\\{0,3}["'`])/;

/** What sets a value apart in a page or in Markdown: `password <b>…</b>`, `password **…**`. */
const MARKUP =
  /^[ \t]{0,4}(?:<(?:b|i|u|em|tt|kbd|code|strong|mark|span|samp)(?: [^<>\n]{0,40})?>[ \t]{0,2}|\*\*)(?=[^\s*<])/;

/** The value that begins at a place, in quotes, in markup or up to white space. */
export function valueAt(text: string, at: number, link: Link): FieldValue | undefined {
  const markup = MARKUP.exec(text.slice(at, at + MAX_OPENING))?.[0] ?? '';
  let start = at + markup.length;
  if (text.slice(start - 2, start) === '**') {
    const [bold = ''] = /^[^\n]*?(?=\*\*)/.exec(text.slice(start, start + MAX_VALUE)) ?? [];
    if (bold !== '') return { start, end: start + bold.length, link, quoted: false };
  }
  start += OF_A_STRING.exec(text.slice(start, start + MAX_OPENING))?.[0].length ?? 0;
  // Escaped quotes of JSON in JSON; string prefixes (`b'…'`, `r"…"`); a second quote.
  const opening =
    /^[ \t]{0,4}(?:(?:[brfuNLBR@$]|[bBrR]{2}|u8|r#)(?=["']))?(\\{0,3}["'`]{1,3}|[“„«‘「『])?/.exec(
      text.slice(start, start + 14),
    );
  start += opening?.[0].length ?? 0;
  const quote = opening?.[1];
  // An empty string, and not a quote that is doubled in CSV.
  if (quote?.length === 2 && /^(?:$|[\s,;)\]}])/.test(text.slice(start, start + 1)))
    return undefined;
  const slice = text.slice(start, start + MAX_VALUE);
  const length = quote ? quotedLength(slice, quote) : bareLength(slice);
  if (length === 0) return undefined;
  return { start, end: start + length, link, quoted: quote !== undefined };
}

function quotedLength(slice: string, quote: string): number {
  const mark = quote.replaceAll('\\', '')[0] ?? '"';
  const closing = QUOTES[mark] ?? mark;
  const escaped = quote.startsWith('\\');
  for (let i = 0; i < slice.length; i++) {
    if (slice[i] === '\n') return i;
    if (slice[i] === '\\' && !escaped) i++;
    else if (slice[i] === '\\' && slice[i + 1] === closing) return i;
    else if (slice[i] === closing) return i;
  }
  return slice.length;
}

/** Up to white space; a separator belongs to the value if more of the value follows. */
function bareLength(slice: string): number {
  let i = 0;
  for (; i < slice.length; i++) {
    const character = slice[i] ?? '';
    if (/[\s"`|]/.test(character)) break;
    if (character === '<' && /[/a-z!]/i.test(slice[i + 1] ?? '')) break;
    if (
      /[,;&]/.test(character) &&
      /^.(?:$|[\s"']|[A-Za-z_ -]{1,24}[=:])/.test(slice.slice(i, i + 28))
    ) {
      break;
    }
    if (character === '\\' && /[nrt"]/.test(slice[i + 1] ?? '')) break;
  }
  while (i > 0 && /[.,;:)\]}'>」。、，]/.test(slice[i - 1] ?? '')) i--;
  return i;
}
