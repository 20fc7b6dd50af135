/**
 * A value whose parts stand under names that call them so: {"birth_year": …, "birth_month": …},
 * "ssn part 1: …, part 2 is …", {"iban (first half)": …, "iban (rest)": …}, {"name": "BSN",
 * "chunks": […]}. The value stands joined in the place of its parts.
 */
import { applyEdits, type Edit, type View } from './view.ts';

const SPLIT: readonly string[] = ['split'];

const BIRTH_BEFORE = 'birth(?:date|day)?|date[_ ]?of[_ ]?birth|dob|born|geburts(?:datum)?|geboorte';
const BIRTH_BEHIND = 'birth|naissance|nacimiento|nascita|nascimento';
/** Names of the fields of a date. */
export const YEAR_NAME = 'year|yyyy|jahr|jaar|ann[ée]e|año|anio|ano|anno';
export const MONTH_NAME = 'month|mm|monat|maand|mois|mes|m[êe]s|mese';
export const DAY_NAME = 'day|dd|tag|dag|jour|d[íi]a|giorno';
const OF = '[_ -]?(?:of|de|di|do)?[_ -]?';
const LIST = 'chunks|parts|pieces|fragments|segments|halves';
const NAME = 'name|field|key|label|k|id|type|param|attribute';

const FIRST =
  'first|1st|erste[rns]?|premi[èe]re?|primer[ao]?|prim[ao]|primeir[ao]|eerste|pierwsz[aey]';
const NOUN =
  'part|half|piece|chunk|bit|portion|segment|fragment|block|digits?|numbers|characters|chars|two|three|four|five|six|eight|[2-8]|hälfte|teil|drittel|partie|moitié|chiffres|parte|mitad|cifras|metà|metade|cifre|deel|helft|cijfers|część|połowa';
const STARTS =
  'starts?(?:ing)? with|begin(?:s|ning)? with|beginnt mit|commence par|empieza (?:con|por)|comienza con|inizia con|começa com|begint met|zaczyna się od';
const ENDS =
  'end(?:s|ing)? (?:with|in)|endet (?:mit|auf)|finit par|(?:se )?termin[ea] (?:par|con|en|com)|acaba (?:con|en)|finisce con|eindigt (?:met|op)|kończy się na';
const NUMBERED =
  '(?:card|cc|pan|iban|ssn)(?:[_ -]?(?:no|nr|num|number))?|part|half|piece|chunk|fragment|segment|teil|partie|parte|deel|część';

/** What a list of pieces is for, in a sentence beside it. */
const JOINED_BY =
  'concat(?:enat\\w{1,4})?|join(?:ed)?|glue[d]?|(?:put|stick|string)(?: \\w{1,6})? together|combined?|append|zusammen(?:gesetzt|fügen|setzen|kleben)?|aneinander(?:hängen|reihen)|verketten?|concat[ée]n\\w{2,4}|coller|colle[rz]?|assembler|unir|pegar|concatenar|juntar|junta|unire|concatenare|aan elkaar|plakken|samenvoegen|połącz\\w{0,4}|sklej\\w{0,3}|slå ihop|sätt ihop|sæt sammen|sett sammen|spoj\\w{0,3}|склеить|соединить|склей|объединить|拼接|拼起来|连接|連結|結合|つなげ|이어 ?붙|합치';
const SECRET_SAID =
  'passw(?:or)?[dt]|passphrase|pass|pwd|wachtwoord|kennwort|mot de passe|contraseña|clave|senha|has[łl]o|lösenord|kodeord|passord|salasana|heslo|пароль|密码|パスワード|비밀번호|token|secret|(?:api|access|secret|private) ?key|schlüssel|geheimnis|iban|ssn|bsn|pesel|card(?: number)?|kartennummer';

/** Where a text may contain some: the name of a year of birth, of a list, or of a first part. */
export const PART_MARKS: readonly string[] = [
  `(?i)\\b(?:${BIRTH_BEFORE})[_ -]?(?:year|yyyy|jahr|jaar)|(?:year|ann[ée]e|a(?:ñ|ni|n)o|anno)${OF}(?:${BIRTH_BEHIND})|(?:birth(?:date|day)?|dob|date_?of_?birth|geburtsdatum)\\\\{0,3}["']\\s?:\\s?\\{`,
  `(?i)\\b(?:${LIST})\\\\{0,3}["']?\\s?: ?[\\["]`,
  `(?i)(?:${JOINED_BY})[^\\n]{0,60}?(?:${SECRET_SAID})`,
  `(?i)\\b(?:${SECRET_SAID})[^\\n]{0,60}?(?:${JOINED_BY})`,
  `(?i)\\b(?:${FIRST})[ _-]?(?:${NOUN})|\\b(?:${STARTS}) |(?:${NUMBERED})[ _#-]{0,2}(?:1|one|i)["'):= _\\\\]|\\bssn[_ -]?area|\\bssn\\\\{0,3}["']\\s?:\\s?\\{`,
];

/**
 * The text with such values joined, undefined if it has none; only called for a text with the mark of
 * one. A reading of its own, since what stands between two parts is not in it.
 */
export function joinedPartsView(text: string): View | undefined {
  const edits = [
    ...birthDates(text),
    ...namedLists(text),
    ...listsToJoin(text),
    ...partsInOrder(text),
  ];
  return edits.length > 0 ? applyEdits(text, edits) : undefined;
}

/** Between two parts. */
const MAX_BETWEEN = 90;
const ASSIGNED = String.raw`\)?\\{0,3}["'\x60]?\)?[ \t]{0,3}[:=]>?[ \t]{0,3}\\{0,3}["'\x60]?`;
const partOfDate = (name: string, group: string): string =>
  `(?:(?<![A-Za-z])(?:${BIRTH_BEFORE})[_ -]?(?:${name})|(?<![A-Za-z])(?:${name})${OF}(?:${BIRTH_BEHIND}))${ASSIGNED}(?<${group}>${group === 'year' ? '(?:19|20)\\d\\d' : group === 'day' ? '\\d{1,2}' : '\\d{1,2}|\\p{L}{3,12}'})(?![\\p{L}\\d])`;
const BIRTH = new RegExp(
  [
    partOfDate(YEAR_NAME, 'year'),
    partOfDate(MONTH_NAME, 'month'),
    partOfDate(DAY_NAME, 'day'),
  ].join('|'),
  'giu',
);
const WITHIN =
  /(?:birth(?:date|day)?|dob|date_?of_?birth|geburtsdatum)\\{0,3}["']\s{0,3}:\s{0,3}\{([^{}]{12,160})\}/gi;
const MEMBER = new RegExp(
  `\\\\{0,3}["'](?:(?<yearName>${YEAR_NAME})|(?<monthName>${MONTH_NAME})|(?:${DAY_NAME}))${ASSIGNED}(?<value>\\d{1,4}|\\p{L}{3,12})(?![\\p{L}\\d])`,
  'giu',
);

interface DatePart {
  readonly kind: 'year' | 'month' | 'day';
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function birthDates(text: string): Edit[] {
  const edits: Edit[] = [];
  let row: DatePart[] = [];
  const take = (part: DatePart): void => {
    const isNew = row.every(({ kind }) => kind !== part.kind);
    if (!isNew || part.start - (row.at(-1)?.end ?? part.start) > MAX_BETWEEN) row = [];
    row.push(part);
    const edit = row.length === 3 ? dateOf(row) : undefined;
    if (edit) [row, edits[edits.length]] = [[], edit];
  };
  for (const { 0: written, index, groups = {} } of text.matchAll(BIRTH)) {
    const value = groups.year ?? groups.month ?? groups.day ?? '';
    const kind = groups.year ? 'year' : groups.month ? 'month' : 'day';
    const end = index + written.length;
    take({ kind, value, start: end - value.length, end });
  }
  for (const { 0: whole, 1: members = '', index } of text.matchAll(WITHIN)) {
    row = [];
    const from = index + whole.length - 1 - members.length;
    for (const { 0: written, index: at, groups = {} } of members.matchAll(MEMBER)) {
      const value = groups.value ?? '';
      const kind = groups.yearName ? 'year' : groups.monthName ? 'month' : 'day';
      const end = from + at + written.length;
      take({ kind, value, start: end - value.length, end });
    }
  }
  return edits;
}

function dateOf(parts: readonly DatePart[]): Edit | undefined {
  const [year = '', month = '', day = ''] = (['year', 'month', 'day'] as const).map(
    (wanted) => parts.find(({ kind }) => kind === wanted)?.value,
  );
  if (year.length !== 4 || day.length > 2) return undefined;
  const date = /^\d/.test(month) ? `${year}-${month}-${day}` : `${day} ${month} ${year}`;
  const [start, end] = [parts[0]?.start ?? 0, parts.at(-1)?.end ?? 0];
  return { start, end, replacement: `dob: ${date}`, disguise: SPLIT };
}

/** In JSON, also within a string; or in a document (../json-document.ts). */
const NAMED_LIST = new RegExp(
  `\\\\{0,3}"(?:${NAME})\\\\{0,3}"\\s{0,3}:\\s{0,3}\\\\{0,3}"([^"\\\\\\n]{2,40})\\\\{0,3}"\\s{0,3},\\s{0,20}\\\\{0,3}"(?:${LIST})\\\\{0,3}"\\s{0,3}:\\s{0,3}\\[([^\\][{}]{5,800})\\]`,
  'gi',
);
const NAMED_LEAVES = new RegExp(
  `(?<![^\\n])(?:${NAME}): "([^"\\n]{2,40})"\\n\\u2028\\n((?:(?:${LIST}): "[^"\\n]{1,80}"\\n\\u2028\\n){2,64})`,
  'gi',
);
const ITEM = /\\{0,3}"([^"\\\n]{1,80})\\{0,3}"/g;
const MIN_JOINED = 6;
/** Words, names with a number behind them, counts, versions and addresses. */
const OF_A_LIST = /^(?:\p{L}+(?:[-_ ]\p{L}+)*[-_ ]?\d{0,2}|\d{1,2}|v?\d{1,3}(?:\.\d{1,3}){1,3})$/u;

function namedLists(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const expression of [NAMED_LIST, NAMED_LEAVES]) {
    for (const { 0: whole, 1: label = '', 2: list = '', index } of text.matchAll(expression)) {
      const from = index + whole.lastIndexOf(list);
      const items = [...list.matchAll(ITEM)];
      const [first, last] = [items[0], items.at(-1)];
      if (!first || !last || items.length < 2) continue;
      const texts = items.map(([, item = '']) => item);
      const joined = texts.join('');
      const telling = texts.filter((item) => /\d/.test(item) && !OF_A_LIST.test(item)).length;
      if (joined.length < MIN_JOINED || 2 * telling < texts.length) continue;
      const start = from + first.index + first[0].indexOf(texts[0] ?? '');
      const end = from + last.index + last[0].lastIndexOf(texts.at(-1) ?? '');
      edits.push({
        start,
        end: end + (texts.at(-1)?.length ?? 0),
        replacement: `", "${label}": "${joined}`,
        disguise: SPLIT,
      });
    }
  }
  return edits;
}

const TO_JOIN = new RegExp(
  `(?<![\\p{L}])(?:${JOINED_BY})(?![\\p{L}])[^\\n]{0,60}?(?<![\\p{L}])(${SECRET_SAID})(?![\\p{L}])|(?<![\\p{L}])(${SECRET_SAID})(?![\\p{L}])[^\\n]{0,60}?(?<![\\p{L}])(?:${JOINED_BY})(?![\\p{L}])`,
  'iu',
);
const PLAIN_LIST = /\[\s{0,4}((?:\\{0,3}"[^"\\\n]{1,40}\\{0,3}"\s{0,4},?\s{0,8}){2,24})\]/g;
const LIST_LEAVES =
  /(?<![^\n])([\w .-]{0,40}): "[^"\n]{1,40}"(?:\n\u2028\n\1: "[^"\n]{1,40}"){1,23}/g;
const LEAF = /: "([^"\n]{1,40})"/g;
/** How far from the list the sentence may stand. */
const MAX_FROM_LIST = 120;

/** `{"p": ["EqyG", "UUpQ"], "use": "concat p, that is the admin password"}` */
function listsToJoin(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const [expression, item] of [
    [PLAIN_LIST, ITEM],
    [LIST_LEAVES, LEAF],
  ] as const) {
    for (const { 0: whole, index } of text.matchAll(expression)) {
      const end = index + whole.length;
      const said =
        TO_JOIN.exec(text.slice(end, end + MAX_FROM_LIST)) ??
        TO_JOIN.exec(text.slice(Math.max(0, index - MAX_FROM_LIST), index));
      if (!said) continue;
      const items = [...whole.matchAll(item)].map(([, one = '']) => one);
      const joined = items.join('');
      const telling = items.filter((one) => /\d|[a-z][A-Z]/.test(one) && !OF_A_LIST.test(one));
      if (joined.length < MIN_JOINED || telling.length === 0) continue;
      const replacement = `"${said[1] ?? said[2]}": "${joined}"`;
      edits.push({ start: index, end, replacement, disguise: SPLIT });
    }
  }
  return edits;
}

const LAST =
  'last|final|letzte[rns]?|derni[èe]re?s?|[úu]ltim[ao]s?|laatste|ostatni[aeo]?|remaining|other';
const REST =
  'rest|remainder|reste|resto|restant|restante|reszta|middle|mitte|milieu|centro|medio|meio|midden';
const ORDER: readonly (readonly [RegExp, number])[] = [
  [new RegExp(`^(?:${FIRST}|${STARTS}|1|one|i|area)$`, 'i'), 1],
  [
    /^(?:second|2nd|zweite[rns]?|deuxi[èe]me|seconde?|second[ao]|segund[ao]|tweede|drug[ai]e?|2|two|ii|group)$/i,
    2,
  ],
  [
    /^(?:third|3rd|dritte[rns]?|troisi[èe]me|tercer[ao]?|terz[ao]|terceir[ao]|derde|trzeci[ae]?|3|three|iii|serial)$/i,
    3,
  ],
  [
    /^(?:fourth|4th|vierte[rns]?|quatri[èe]me|cuart[ao]|quart[ao]|vierde|czwart[ae]|4|four|iv)$/i,
    4,
  ],
  [/^(?:middle|mitte|milieu|centro|medio|meio|midden)$/i, 50],
];
const LATER = 99;
const ORDINALS =
  'second|2nd|zweite[rns]?|deuxi[èe]me|seconde?|second[ao]|segund[ao]|tweede|drug[ai]e?|third|3rd|dritte[rns]?|troisi[èe]me|tercer[ao]?|terz[ao]|terceir[ao]|derde|trzeci[ae]?|fourth|4th|vierte[rns]?|quatri[èe]me|cuart[ao]|quart[ao]|vierde|czwart[ae]';
/** A part's name, a few words at most, its value: in quotes, or with a digit. */
const PART = new RegExp(
  `(?<![\\p{L}\\d])(?:(?<ordinal>${FIRST}|${ORDINALS}|${LAST})[ _-]?(?:${NOUN})(?:[ _-](?:digits|numbers|characters))?|(?:${NUMBERED})[ _#-]{0,2}(?<number>[1-4]|one|two|three|four|i{1,3}|iv)(?!\\p{L}|\\d)|(?<edge>${STARTS}|${ENDS})|(?<rest>${REST})(?!\\p{L})|(?:ssn[_ -]|(?<=ssn\\\\{0,3}["'] ?: ?\\{[^{}]{0,80}["']))(?<field>area|group|serial))(?<gap>[^\\d\\n.;"'\x60\\\\]{0,32}?(?:${ASSIGNED.replace('[:=]>?', '(?:[:=]>?)?')}))(?<![\\p{L}\\d])(?:(?<=["'\x60])(?<quoted>[^"'\x60\\\\\\n]{1,48})|(?<bare>(?=[A-Za-z+/_=-]{0,20}\\d)[A-Za-z0-9+](?:[A-Za-z0-9+/_=.,-]{0,46}[A-Za-z0-9=])?(?: \\d[\\dA-Za-z]{0,8}(?![A-Za-z])){0,6}))`,
  'giu',
);

/** What joins a part's name with its value; without it, a number behind other words is a count. */
const LINKED =
  /[:=]|(?<![\p{L}])(?:is|are|was|ist|sind|lautet|est|es|è|é|são|son|sono|to|jest|luidt|zijn)[ "'\x60]{1,3}$/u;
const YEAR = /^(?:19|20)\d\d$/;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+$/;

interface Part {
  readonly order: number;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function partsInOrder(text: string): Edit[] {
  const edits: Edit[] = [];
  let row: Part[] = [];
  const close = (): void => {
    const edit = joinedRow(row);
    if (edit) edits.push(edit);
    row = [];
  };
  for (const { 0: written, index, groups = {} } of text.matchAll(PART)) {
    const value = groups.quoted ?? groups.bare ?? '';
    const name =
      groups.ordinal ?? groups.number ?? groups.edge ?? groups.rest ?? groups.field ?? '';
    const gap = groups.gap ?? '';
    if (!LINKED.test(gap) && (/\p{L}/u.test(gap) || YEAR.test(value))) continue;
    if (THOUSANDS.test(value)) continue;
    const order = ORDER.find(([expression]) => expression.test(name))?.[1] ?? LATER;
    const end = index + written.length;
    const last = row.at(-1);
    if (order === 1 || (last && index - last.end > MAX_BETWEEN)) close();
    if (row.length > 0 || order === 1) row.push({ order, value, start: end - value.length, end });
  }
  close();
  return edits;
}

/** Fewer digits are counts and years. */
const MIN_DIGITS = 6;

function joinedRow(row: readonly Part[]): Edit | undefined {
  const [first, last] = [row[0], row.at(-1)];
  if (!first || !last || row.length < 2) return undefined;
  if (new Set(row.map(({ order }) => order)).size < row.length) return undefined;
  const inOrder = [...row].sort((a, b) => a.order - b.order);
  const joined = inOrder.map(({ value }) => value).join('');
  const digits = joined.replace(/\D/g, '').length;
  if (digits < MIN_DIGITS && !(digits > 0 && /^[A-Za-z0-9+/_=-]{12,}$/.test(joined))) {
    return undefined;
  }
  return { start: first.start, end: last.end, replacement: joined, disguise: SPLIT };
}
