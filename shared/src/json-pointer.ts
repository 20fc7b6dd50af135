/**
 * A step of a JSON Pointer (RFC 6901), with its slash. A pointer is its steps in a row: a name with
 * a slash in it is one step, and never read as two.
 */
export const pointerStep = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
