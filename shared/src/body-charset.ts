/**
 * Bodies are read as UTF-8, whatever their Content-Type says. One that claims to be something else
 * is refused: whoever reads it as it claims to be reads another request than this service.
 */

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/gi;
/** ASCII is UTF-8 too. */
const READ = /^(?:utf-?8|us-ascii)$/i;
/**
 * Many OAuth clients say Latin-1 of every form. Theirs are escaped, and what a token needs is ASCII:
 * anything else in one becomes U+FFFD, which no name or secret of ours has.
 */
const FORM = /^\s*application\/x-www-form-urlencoded\s*;/i;
const READ_IN_FORMS = /^(?:utf-?8|us-ascii|iso-8859-1|windows-1252)$/i;

export const OTHER_CHARSET = 'The body must be in UTF-8.';

/** @param contentType caller-controlled; every `charset` in it counts */
export function isReadAsClaimed(contentType: string | undefined): boolean {
  const read = FORM.test(contentType ?? '') ? READ_IN_FORMS : READ;
  for (const [, charset = ''] of (contentType ?? '').matchAll(CHARSET)) {
    if (!read.test(charset)) return false;
  }
  return true;
}
