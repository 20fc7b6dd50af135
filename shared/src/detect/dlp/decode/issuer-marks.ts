/**
 * The marks with which issuers begin their keys, read from the patterns of these keys: a new
 * pattern's keys are then found reversed and in rot13, too (issuer-marks.test.ts).
 */
import { ISSUER_KEYS } from '../patterns/issuer-keys.ts';

/** Longer marks are cut; shorter ones occur in ordinary words. */
const MAX_MARK = 6;
const MIN_MARK = 4;

/** The expression without its groups, once for each choice within them. */
function choices(expression: string): readonly string[] {
  const group = /\(\?:([^()]*)\)(\??)/.exec(expression);
  if (!group) return expression.split('|');
  const [written, inner = '', optional] = group;
  const before = expression.slice(0, group.index);
  const behind = expression.slice(group.index + written.length);
  const some = optional ? [...inner.split('|'), ''] : inner.split('|');
  return some.flatMap((choice) => choices(before + choice + behind));
}

/** The same for a short class among the first characters: `gh[pousr]_`. */
function withoutClass(expression: string): readonly string[] {
  const [written, before, letters] =
    /^([A-Za-z_]{0,7})\[([A-Za-z]{1,8})\](?![{*+?])/.exec(expression) ?? [];
  if (written === undefined) return [expression];
  const behind = expression.slice(written.length);
  return [...(letters ?? '')].flatMap((letter) => withoutClass(`${before}${letter}${behind}`));
}

/** The characters that stand for themselves; one with a quantifier does not. */
const markOf = (expression: string): string =>
  (/^(?:(?:[\w\-/:@ ]|\\[.$])(?![{*+?]))*/.exec(expression)?.[0] ?? '')
    .replaceAll('\\', '')
    .slice(0, MAX_MARK);

const isMark = (mark: string): boolean =>
  mark.length >= MIN_MARK && /[A-Za-z]{2}/.test(mark) && new Set(mark).size > 1;

export const ISSUER_MARKS: readonly string[] = [
  ...new Set(
    ISSUER_KEYS.flatMap(({ expressions }) => expressions)
      .map((one) => (typeof one === 'string' ? one : one.expression))
      .flatMap((expression) => choices(expression.replaceAll(String.raw`(?:\b|_)`, '')))
      .map((choice) => choice.replace(/^\\b/, ''))
      .flatMap(withoutClass)
      .map(markOf)
      .filter(isMark),
  ),
];
