/** Which of the signs that markup or a disguise needs a text contains: most have none of them. */

/** `<` and `[`. */
export const MARKUP = 1;
/** `%`, `&`, `=` and the backslash. */
export const ESCAPE = 2;
/** The first unit of an invisible tag. */
export const TAG = 4;

/** Above this length, a few searches cost less than a loop. */
const SHORT = 128;
const ESCAPES = ['%', '&', '=', '\\'];
const SIGNS = new Uint8Array(128);
for (const sign of '<[') SIGNS[sign.charCodeAt(0)] = MARKUP;
for (const sign of ESCAPES) SIGNS[sign.charCodeAt(0)] = ESCAPE;
const FIRST_OF_TAG = 0xdb40;

/** @param units of the text (../units.ts) */
export function signsIn(text: string, units: Uint16Array): number {
  let signs = 0;
  if (text.length > SHORT) {
    if (text.includes('<') || text.includes('[')) signs |= MARKUP;
    if (ESCAPES.some((sign) => text.includes(sign))) signs |= ESCAPE;
    return text.includes('\udb40') ? signs | TAG : signs;
  }
  for (let at = 0; at < text.length; at += 1) {
    const unit = units[at] as number;
    if (unit < 128) signs |= SIGNS[unit] as number;
    else if (unit === FIRST_OF_TAG) signs |= TAG;
  }
  return signs;
}
