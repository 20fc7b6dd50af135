/** The common shape of one action's targets, without ids and numbers. */

const MAX_SHAPE = 200;
/** Longer targets are distinguished by their beginning only. */
const MAX_READ = 2_000;
/**
 * Each expression can match in one way only, so that matching is linear whatever the target
 * contains.
 */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /[0-9a-f]{16,}/gi;
const DIGITS = /[0-9]+/g;

/**
 * @returns the target with `#` for ids and numbers, so that calls for one numbered file after
 * another count as one action
 */
export function shapeOf(target: string): string {
  return target
    .slice(0, MAX_READ)
    .replace(UUID, '#')
    .replace(HEX, '#')
    .replace(DIGITS, '#')
    .slice(0, MAX_SHAPE)
    .toWellFormed();
}
