/**
 * Bodies are read as UTF-8, whatever their Content-Type says. One that claims to be something else
 * is refused: whoever reads it as it claims to be reads another request than this service.
 */
import type { IncomingHttpHeaders } from 'node:http';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/gi;
/** ASCII is UTF-8 too. */
const READ = /^(?:utf-?8|us-ascii)$/i;
/**
 * Many OAuth clients say Latin-1 of every form. Theirs are escaped, and what a token needs is ASCII:
 * anything else in one becomes U+FFFD, which no name or secret of ours has.
 */
const FORM = /^\s*application\/x-www-form-urlencoded\s*;/i;
const READ_IN_FORMS = /^(?:utf-?8|us-ascii|iso-8859-1|windows-1252)$/i;

const OTHER_CHARSET = 'The body must be in UTF-8.';
const COMPRESSED = 'The body must not be compressed: leave out Content-Encoding.';

/**
 * Why a body cannot be read as its headers claim it to be; undefined where it can.
 *
 * @param headers caller-controlled
 */
export function findMisclaim(headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') return COMPRESSED;
  return isReadAsClaimed(headers['content-type']) ? undefined : OTHER_CHARSET;
}

/** @param contentType caller-controlled; every `charset` in it counts */
export function isReadAsClaimed(contentType: string | undefined): boolean {
  const read = FORM.test(contentType ?? '') ? READ_IN_FORMS : READ;
  for (const [, charset = ''] of (contentType ?? '').matchAll(CHARSET)) {
    if (!read.test(charset)) return false;
  }
  return true;
}
