/**
 * A step of a JSON Pointer (RFC 6901), with its slash. A pointer is its steps in a row: a name with
 * a slash in it is one step, and never read as two.
 */
export const pointerStep = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** A place in a list, or a name that is a word: neither a sentence nor an address or a key. */
const PLAIN_STEP = /^(?:\d{1,6}|[A-Za-z_$][A-Za-z_-]{0,39})?$/;

/** A pointer whose other names are `*`: whoever wrote the document chose them, and they may be data. */
export function pointerWithoutText(pointer: string): string {
  const steps = pointer.split('/').map((step) => (PLAIN_STEP.test(step) ? step : '*'));
  return steps.join('/');
}
