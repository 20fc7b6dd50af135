/**
 * The possible readings of a text that names a target: a path, a URI, an address, a name. A server
 * reads it in its own way (it may decode it, or treat a backslash as a slash), so a scope has to
 * match all readings. A text without a plain reading has none here, and no scope matches it.
 */

const MAX_LENGTH = 4_096;
/** A text with more readings, such as one encoded many times, is made to mislead. */
const MAX_VARIANTS = 12;

const CONTROL = /[\p{Cc}\u2028\u2029\ufffd]/u;
const SPACE = /\s/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const DRIVE = /^[a-z]:[\\/]/i;
const URI = /^[a-z][a-z0-9+.-]*:\/\//i;
/** Parsers may see an authority in these even without `//`. */
const BARE_URL = /^(?:https?|wss?|ftp):/i;

/** The colon of a scheme or a drive, which separates nothing. */
const OWN_COLON = /^(?:file:\/\/\/[a-z]|[a-z][a-z0-9+.-]*):/i;
/** A path, a place or a URI behind a separator: for who splits there, a second target. */
const SECOND =
  /[\s,;:|&<>]["'([{]*(?:[\\/~]|\$[a-z_{]|\.{1,2}(?:[\\/]|$)|[a-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/|(?:https?|wss?|ftp|file|mailto):\S)/i;
/** A path as the value of an option. */
const OPTION = /\s(?:-[a-z]|[^\s\\/]*=)["']*[\\/~]/i;
/** What makes a shell run another command. */
const COMMAND = /\$\(|[`|]|&&|;\s/;

/**
 * All plain forms of a target, caller-controlled.
 *
 * @returns null where it cannot be read
 */
export function readTarget(text: string): string[] | null {
  if (text === '' || text.length > MAX_LENGTH || !text.isWellFormed()) return null;
  const variants = variantsOf(text);
  if (variants === null) return null;
  const found = new Set<string>();
  for (const variant of variants) {
    const forms = formsOf(variant);
    if (forms === null) return null;
    for (const form of forms) found.add(form);
  }
  return [...found];
}

/**
 * A text as servers may decode it.
 *
 * @returns null where there are too many ways
 */
export function variantsOf(text: string): ReadonlySet<string> | null {
  const variants = new Set([text]);
  // The set grows during the walk, which reaches its end.
  for (const variant of variants) {
    variants.add(variant.normalize('NFKC'));
    variants.add(decoded(variant));
    if (!DRIVE.test(variant)) variants.add(variant.replaceAll('\\', '/'));
    if (variants.size > MAX_VARIANTS) return null;
  }
  return variants;
}

/** As lenient servers decode: an invalid escape stays as it is. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function formsOf(text: string): string[] | null {
  if (text === '' || text !== text.trim() || CONTROL.test(text)) return null;
  // Nobody knows which of the two the scope was to be compared with.
  if (SECOND.test(text.replace(OWN_COLON, ''))) return null;
  if (isPlace(text)) return COMMAND.test(text) || OPTION.test(text) ? null : placeForms(text);
  const parts = text.split(/[,;]/).map((part) => part.trim());
  const forms = parts.map(nameOf);
  // One text may name several; the whole counts too, since the separators may belong to a name.
  return forms.includes(null) ? null : unique([...(forms as string[]), ...wholeOf(text, parts)]);
}

/** Whether it is a path or a URI, and no name or address. */
function isPlace(text: string): boolean {
  return /^[.~]|^file:|\//i.test(text) || DRIVE.test(text) || BARE_URL.test(text);
}

function placeForms(text: string): string[] | null {
  if (DRIVE.test(text)) return one(pathOf(drivePath(text)));
  // Two at the beginning: to some a path, to others another machine.
  if (/^[\\/]{2}/.test(text)) return null;
  if (/^file:/i.test(text)) return fileForms(text);
  if (URI.test(text)) return uriForms(text);
  return BARE_URL.test(text) ? null : one(pathOf(text));
}

function wholeOf(text: string, parts: string[]): string[] {
  return parts.length > 1 && !text.includes('@') ? [text] : [];
}

const unique = (texts: string[]) => [...new Set(texts)];
const one = (form: string | null) => (form === null ? null : [form]);

/** A name, or a single address: nothing with more than one address in it. */
function nameOf(text: string): string | null {
  if (text === '') return null;
  const at = text.lastIndexOf('@');
  if (at <= 0) return text.includes('<') || text.includes('>') ? null : text;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (/[\s"'<>()@:\\]/.test(local) || /[\s"'<>()@:\\]/.test(domain) || domain === '') return null;
  return `${local}@${domain.toLowerCase()}`;
}

function drivePath(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1).replaceAll('\\', '/')}`;
}

/** A segment that stands for a place: `~`, `$HOME`, `%TEMP%`, a drive. */
const PLACE = /^[~$%]|:$/;
const DOTS = /^[. ]+(?:;.*)?$/s;

/** `..` and `.` resolved, no slash twice and none at the end. */
function pathOf(text: string): string | null {
  const isAbsolute = text.startsWith('/');
  const segments: string[] = [];
  for (const segment of text.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      const left = segments.pop();
      // Where a relative path leads upwards is unknown here, and so it is from a home or a drive.
      if (!isAbsolute && (left === undefined || PLACE.test(left))) return null;
    } else if (DOTS.test(segment)) {
      // Some systems drop these characters, or everything after the semicolon: then it is another
      // path.
      return null;
    } else segments.push(segment);
  }
  const path = segments.join('/');
  if (isAbsolute) return `/${path}`;
  return path === '' ? '.' : path;
}

function fileForms(text: string): string[] | null {
  const path = text.slice('file://'.length);
  if (!/^file:\/\/\/(?!\/)/i.test(text) || /[?#\\]/.test(path)) return null;
  const drive = path.slice(1);
  return one(pathOf(DRIVE.test(drive) ? drivePath(drive) : path));
}

function uriForms(text: string): string[] | null {
  if (SPACE.test(text) || text.includes('\\') || !URL.canParse(text)) return null;
  const url = new URL(text);
  const begin = text.indexOf('://') + 3;
  const written = text.slice(begin);
  const end = written.search(/[/?#]/);
  const authority = end < 0 ? written : written.slice(0, end);
  if (authority.includes('@')) return null;
  const host = url.host.toLowerCase().replace(/\.(?=$|:)/, '');
  const base = `${url.protocol}//${host}`;
  const rest = end < 0 ? '' : written.slice(end);
  const pathEnd = rest.search(/[?#]/);
  const rawPath = pathEnd < 0 ? rest : rest.slice(0, pathEnd);
  const after = `${url.search}${url.hash}`;
  const plain = pathOf(rawPath === '' ? '/' : rawPath);
  const parsed = url.pathname === '' ? '/' : url.pathname;
  if (plain === null) return null;
  const forms = [`${base}${plain}${after}`];
  // A parser that keeps empty segments resolves `..` differently.
  if (rawPath.includes('//')) {
    const kept = pathOf(parsed);
    if (kept === null) return null;
    forms.push(`${base}${parsed}${after}`, `${base}${kept}${after}`);
  }
  return unique(forms);
}

/**
 * The pattern of a scope in the same form.
 *
 * @returns null for a pattern that could match no reading
 */
export function plainPattern(pattern: string): string | null {
  if (pattern === '' || CONTROL.test(pattern) || pattern !== pattern.trim()) return null;
  if (!pattern.isWellFormed() || pattern.normalize('NFKC') !== pattern) return null;
  let plain = DRIVE.test(pattern) ? drivePath(pattern) : pattern;
  if (/^file:/i.test(plain)) {
    if (!/^file:\/\/\//i.test(plain)) return null;
    plain = plain.slice('file://'.length);
    if (DRIVE.test(plain.slice(1))) plain = drivePath(plain.slice(1));
  } else if (SCHEME.test(plain) && plain.includes('://')) {
    const begin = plain.indexOf('://') + 3;
    const slash = plain.indexOf('/', begin);
    const end = slash < 0 ? plain.length : slash;
    if (plain.slice(begin, end).includes('@')) return null;
    const path = plain.slice(end);
    if (!isPlainPath(path)) return null;
    return `${plain.slice(0, end).toLowerCase()}${path}`;
  } else if (!plain.includes('/') && plain.lastIndexOf('@') > 0) {
    const at = plain.lastIndexOf('@');
    return `${plain.slice(0, at)}@${plain.slice(at + 1).toLowerCase()}`;
  }
  return isPlainPath(plain) ? plain : null;
}

function isPlainPath(path: string): boolean {
  const segments = path.split('/');
  const inner = segments.slice(path.startsWith('/') ? 1 : 0);
  if (path === '/' || path === '') return true;
  return !path.includes('\\') && !inner.some((one) => one === '' || DOTS.test(one));
}
