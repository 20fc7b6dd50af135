/** A value that belongs to a label, and how certain that is. */
import type { Stretch } from './builtin-pattern.ts';

/**
 * How certain it is that the value belongs to the label: `assigned` by a sign, `column` by its
 * position, `prose` by a word such as "is", `adjacent` only by a space.
 */
export type Link = 'assigned' | 'column' | 'prose' | 'adjacent';

export interface FieldValue extends Stretch {
  readonly link: Link;
  readonly quoted: boolean;
}

/** The characters of a value that are looked at. */
export const MAX_VALUE = 256;
