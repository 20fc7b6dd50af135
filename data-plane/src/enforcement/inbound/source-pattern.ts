/**
 * Patterns of source rules. A pattern and a URI are compared both as written and in canonical form,
 * so that no other spelling, of the URI or of the pattern, evades a rule.
 */
import { domainToASCII } from 'node:url';
import type { Effort } from '@governance/shared/glob';

/** The pieces of a pattern between its stars. */
export type SourceGlob = readonly string[];

export function parsePattern(pattern: string): SourceGlob {
  return pattern.replace(/\*+/g, '*').split('*');
}

/**
 * Whether a whole text matches a pattern. `*` matches any characters, so it suffices to look for
 * the first occurrence of each piece.
 *
 * @returns undefined when the effort is used up
 */
export function matchesPattern(
  pieces: SourceGlob,
  text: string,
  effort: Effort,
): boolean | undefined {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  effort.left -= 1;
  if (last === undefined) return effort.left < 0 ? undefined : text === first;
  if (effort.left < 0) return undefined;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    // The cost of a search in the worst case.
    effort.left -= (text.length - at) * (1 + Math.floor(piece.length / 32));
    if (effort.left < 0) return undefined;
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}

/** The pattern with its URI's authority as in `canonicalUri`; unchanged if it has no URI. */
export function canonicalPattern(pattern: string): string {
  const slashes = pattern.indexOf('://');
  if (slashes < 0) return pattern;
  const from = slashes + 3;
  const length = pattern.slice(from).search(/[/?#\\]/);
  const to = length < 0 ? pattern.length : from + length;
  const scheme = pattern.slice(0, slashes).toLowerCase();
  const authority = pattern
    .slice(from, to)
    .toLowerCase()
    .replace(USUAL_PORTS[scheme] ?? /$^/, '');
  const labels = authority.replace(/\.+$/, '').split('.');
  const host = labels.map((label) => canonicalLabel(label)).join('.');
  const isAddress = to === pattern.length && !host.endsWith('*');
  return `${scheme}://${host}${isAddress ? '/' : pattern.slice(to)}`;
}

/** Default ports, which a canonical URI omits. */
const USUAL_PORTS: Readonly<Record<string, RegExp>> = {
  https: /:443$/,
  wss: /:443$/,
  http: /:80$/,
  ws: /:80$/,
  ftp: /:21$/,
};

function canonicalLabel(label: string): string {
  // A label with a star has no canonical form; an invalid label stays as it is.
  return label.includes('*') ? label : domainToASCII(label) || label;
}

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * A URI as a client would request it, without user and password: the host of `https://good@evil` is
 * `evil`. Dots at the end of the host and needless escapes are dropped. Null where it is no URI.
 */
export function canonicalUri(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const url = new URL(uri);
  url.username = '';
  url.password = '';
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.replace(/\.+$/, '');
  return url.href.replace(/%[0-9A-Fa-f]{2}/g, (given) => {
    const character = String.fromCharCode(Number.parseInt(given.slice(1), 16));
    return UNRESERVED.test(character) ? character : given.toUpperCase();
  });
}
