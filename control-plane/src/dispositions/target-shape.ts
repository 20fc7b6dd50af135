/** What is the same about the targets of one action: their ids and numbers are left out. */

const MAX_SHAPE = 200;
/** Longer targets are told apart by their beginning. */
const MAX_READ = 2_000;
/** None of them can match in more than one way: linear, whatever a target holds. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /[0-9a-f]{16,}/gi;
const DIGITS = /[0-9]+/g;

/** @returns the target with `#` for ids and numbers, so that a probe of file after file is one action */
export function shapeOf(target: string): string {
  return target
    .slice(0, MAX_READ)
    .replace(UUID, '#')
    .replace(HEX, '#')
    .replace(DIGITS, '#')
    .slice(0, MAX_SHAPE)
    .toWellFormed();
}
