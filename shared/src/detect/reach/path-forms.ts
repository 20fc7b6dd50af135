/**
 * Where a text that names a path may lead. Servers read paths in their own ways (they decode, take
 * a backslash for a slash, ignore case, follow `..`), so a text has several forms, and the worst of
 * them counts. Proven by reach.test.ts: no spelling hides where a path leads.
 */
import { readPerhaps } from './perhaps-empty.ts';

export interface PathForm {
  /** `relative`: from a place that only the server knows. */
  readonly from: 'root' | 'home' | 'relative';
  /** In lower case, without `.`, `..` and empty segments. A drive comes first: `c:`. */
  readonly segments: readonly string[];
  /** Only if a variable is empty of which nothing is known. */
  readonly isPerhaps?: boolean;
  /** Stands for the spellings that were not read: together they are too long. */
  readonly isUnread?: boolean;
}

/** How often a text is decoded: `%252e` is a dot to a server behind a proxy. */
const MAX_DECODINGS = 3;
/** Characters of a text's spellings together: beyond, it is not decoded any further. */
const MAX_SPELLED = 2.5 * 1024 * 1024;
const UNREAD: PathForm = { from: 'relative', segments: [], isPerhaps: true, isUnread: true };

/**
 * The forms of a path, caller-controlled. Linear in the text.
 *
 * @param base the start of relative paths, if the call names it
 * @returns nothing for a web address, which is not a file
 */
export function readPathForms(text: string, base?: string): PathForm[] {
  const perhaps = readPerhaps(text);
  if (perhaps !== undefined) {
    const empty = formsOf(perhaps.empty).map((form) => ({ ...form, isPerhaps: true }));
    return [...readPathForms(perhaps.named, base), ...empty];
  }
  const forms = formsOf(text);
  if (base === undefined || forms.every(({ from }) => from !== 'relative')) return forms;
  const joined = formsOf(`${base}/${text}`);
  return [...joined, ...forms.filter(({ from }) => from !== 'relative')];
}

function formsOf(text: string): PathForm[] {
  const forms: PathForm[] = [];
  const { spellings, isCut } = spellingsOf(text);
  for (const spelling of spellings) {
    for (const form of parse(spelling)) if (!isLast(form, forms)) forms.push(form);
  }
  return isCut ? [...forms, UNREAD] : forms;
}

/** Two spellings in a row often have one form. Longer ones are judged twice rather than compared. */
function isLast({ from, segments }: PathForm, forms: readonly PathForm[]): boolean {
  const last = forms.at(-1);
  if (last?.from !== from || last.segments.length !== segments.length) return false;
  return segments.length <= MAX_COMPARED && segments.every((one, at) => one === last.segments[at]);
}

const MAX_COMPARED = 256;

const PLAIN = /^[\x21-\x7e]*$/;
const ENCODED = /%[0-9a-f]{2}/i;
/** Invisible characters, or those that some readers drop. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const QUOTES = new Set(['"', "'", '`', ' ', '\t', '\r', '\n']);

function spellingsOf(text: string): { spellings: Set<string>; isCut: boolean } {
  const found = new Set<string>();
  let left = MAX_SPELLED;
  const add = (spelling: string) => {
    left -= spelling.length;
    found.add(spelling);
    // Of a megabyte of them, replaceAll takes five times as long.
    if (spelling.includes('\\')) found.add(spelling.split('\\').join('/'));
  };
  let now = text;
  let isCut = false;
  for (let round = 0; round <= MAX_DECODINGS; round++) {
    add(now);
    if (!PLAIN.test(now)) {
      add(now.normalize('NFKC').replace(UNSEEN, '').trim());
      const end = now.indexOf('\0');
      // Where a name ends for C code.
      if (end > 0) add(now.slice(0, end));
    }
    const unquoted = withoutQuotes(now);
    if (unquoted !== now) add(unquoted);
    if (!ENCODED.test(now)) break;
    isCut = left < 0 && round < MAX_DECODINGS;
    if (isCut) break;
    now = decoded(now);
  }
  if (found.size > 1) {
    // A name that only looks bare because its slashes are disguised does not count as bare.
    const withSlash = [...found].filter((one) => /[\\/]/.test(one));
    if (withSlash.length > 0) return { spellings: new Set(withSlash), isCut };
    found.delete('');
  }
  return { spellings: found, isCut };
}

/** An expression for the end would retry each run of quotes. */
function withoutQuotes(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && QUOTES.has(text[start] as string)) start++;
  while (end > start && QUOTES.has(text[end - 1] as string)) end--;
  return text.slice(start, end);
}

/** As lenient servers decode, including overlong dots and slashes. */
function decoded(text: string): string {
  return text
    .replace(/%c0%a([ef])/gi, (_all, last: string) => (last.toLowerCase() === 'e' ? '.' : '/'))
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      const signs = run.replaceAll('%', '');
      // A megabyte of single signs is as many runs: each would be a buffer.
      const byte = signs.length === 2 ? Number.parseInt(signs, 16) : 0x80;
      if (byte < 0x80) return String.fromCharCode(byte);
      return Buffer.from(signs, 'hex').toString('utf8');
    });
}

const WEB = /^(?:https?|wss?|mailto|data):/i;
const SCHEME = /^[a-z][a-z0-9+.-]{1,20}:\/\//i;
const HOME =
  /^(?:~[^/\\]*|\$home|\$\{home\}|%userprofile%|%homepath%|\$env:userprofile)(?=[/\\]|$)/i;

const WINDOWS = /^(?:%(?:windir|systemroot)%|\$\{?env:(?:windir|systemroot)\}?)(?=[/\\]|$)/i;

function parse(text: string): PathForm[] {
  if (text === '' || WEB.test(text)) return [];
  if (/^file:/i.test(text)) return parseFileUri(text);
  if (SCHEME.test(text)) {
    const rest = withoutQuery(text.slice(text.indexOf('://') + 3));
    return [resolve('root', [], rest)];
  }
  const windows = WINDOWS.exec(text)?.[0];
  if (windows !== undefined)
    return [resolve('root', ['c:', 'windows'], text.slice(windows.length))];
  const home = HOME.exec(text)?.[0];
  if (home !== undefined) return aliases(resolve('home', [], text.slice(home.length)));
  const long = /^[\\/]{2}[?.][\\/]/.exec(text)?.[0] ?? '';
  const path = text.slice(long.length);
  if (/^[a-z]:/i.test(path)) {
    return aliases(resolve('root', [path.slice(0, 2).toLowerCase()], path.slice(2)));
  }
  if (text.startsWith('\\\\')) {
    // A share: it begins at machine and name.
    return [resolve('root', [], text.slice(endOfShare(text)), EITHER), resolve('root', [], text)];
  }
  if (text.startsWith('/') || text.startsWith('\\')) return aliases(resolve('root', [], text));
  const relative = resolve('relative', [], text);
  // Far enough up is the root, and its distance is unknown here.
  const leadsUp = leadingUps(text) > 0;
  return leadsUp ? [relative, ...aliases({ ...relative, from: 'root' })] : [relative];
}

function parseFileUri(text: string): PathForm[] {
  const rest = withoutQuery(text.slice('file:'.length));
  const path = rest.replace(/^[\\/]+/, '');
  const slashes = rest.length - path.length;
  const whole = parse(/^[a-z]:/i.test(path) || path.startsWith('~') ? path : `/${path}`);
  if (slashes !== 2) return whole;
  // A machine's name stands between the second and the third slash.
  const end = path.search(/[\\/]/);
  return [...whole, ...parse(end < 0 ? '/' : path.slice(end))];
}

function withoutQuery(text: string): string {
  const end = text.search(/[?#]/);
  return end < 0 ? text : text.slice(0, end);
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
/** A slash or a backslash ends a segment. */
const EITHER = BACKSLASH;

/** The index at which the segment from `start` ends. Steps cost less than a split of a long path. */
function endOfSegment(text: string, start: number, other: number): number {
  let end = start;
  for (; end < text.length; end++) {
    const c = text.charCodeAt(end);
    if (c === SLASH || c === other) break;
  }
  return end;
}

/** Whether a character is no white space for certain. */
function isVisible(c: number): boolean {
  return c > 0x20 && c < 0x7f;
}

/** Where the path within a share begins: behind its machine and its name. */
function endOfShare(text: string): number {
  return endOfSegment(text, endOfSegment(text, 2, EITHER) + 1, EITHER) + 1;
}

/** @param other ends a segment as a slash does; without it a backslash, where no slash does */
function resolve(
  from: PathForm['from'],
  first: readonly string[],
  text: string,
  other = text.includes('/') ? SLASH : EITHER,
): PathForm {
  let start = from;
  const segments = [...first];
  let floor = first.length;
  const lower = text.toLowerCase();
  let end = -1;
  while (end < lower.length) {
    const begin = end + 1;
    end = endOfSegment(lower, begin, other);
    if (end === begin) continue;
    const written = lower.slice(begin, end);
    const isBare = isVisible(lower.charCodeAt(begin)) && isVisible(lower.charCodeAt(end - 1));
    const segment = isBare ? written : written.trim();
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.length > floor) segments.pop();
    else if (start === 'home') {
      // The parent of a home is the folder of all homes.
      start = 'root';
      segments.push('home');
      floor = 0;
    }
  }
  return { from: start, segments };
}

function leadingUps(text: string): number {
  let depth = 0;
  let ups = 0;
  let end = -1;
  while (end < text.length) {
    const begin = end + 1;
    end = endOfSegment(text, begin, EITHER);
    const segment = text.slice(begin, end);
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') depth++;
    else if (depth > 0) depth--;
    else ups++;
  }
  return ups;
}

/** The same place under its common name. */
function aliases(form: PathForm): PathForm[] {
  const { from, segments } = form;
  if (from !== 'root') return [form];
  const [first, second, third] = segments;
  if (first === 'private' && ['etc', 'var', 'tmp'].includes(second ?? '')) {
    return [form, { from, segments: segments.slice(1) }];
  }
  if (first === 'proc' && third === 'root') return [form, { from, segments: segments.slice(3) }];
  return [form];
}

/** A form that spells out a home's path, as that home; undefined for all others. */
export function asHome({ from, segments }: PathForm): PathForm | undefined {
  if (from !== 'root') return undefined;
  const path = /^[a-z]:$/.test(segments[0] ?? '') ? segments.slice(1) : segments;
  if (path[0] === 'root') return { from: 'home', segments: path.slice(1) };
  if ((path[0] !== 'home' && path[0] !== 'users') || path.length < 2) return undefined;
  return { from: 'home', segments: path.slice(2) };
}

/** The number of segments of a path; a drive counts as none, a home as one. */
export function depthOf({ from, segments }: PathForm): number {
  if (from === 'home') return segments.length + 1;
  return /^[a-z]:$/.test(segments[0] ?? '') ? segments.length - 1 : segments.length;
}
