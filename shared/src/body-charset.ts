/**
 * Bodies are read as UTF-8, whatever their Content-Type says. One that claims to be something else
 * is refused: whoever reads it as it claims to be reads another request than this service.
 */

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/gi;
/** ASCII is UTF-8 too. */
const READ = /^(?:utf-?8|us-ascii)$/i;

export const OTHER_CHARSET = 'The body must be in UTF-8.';

/** @param contentType caller-controlled; every `charset` in it counts */
export function isReadAsClaimed(contentType: string | undefined): boolean {
  for (const [, charset = ''] of (contentType ?? '').matchAll(CHARSET)) {
    if (!READ.test(charset)) return false;
  }
  return true;
}
