import { pointerStep } from '../../json/json-pointer.ts';
import type { Stretch } from './builtin-pattern.ts';
import type { FoundInLeaves } from './found.ts';

interface Mark extends Stretch {
  readonly pattern: string;
}

/**
 * A copy of a JSON value with `[REDACTED:<pattern>]` in place of what was found.
 *
 * @returns what was replaced, and what remains: numbers, keys, values split over fields
 */
export function redactFound(
  value: unknown,
  found: readonly FoundInLeaves[],
  keep: (pointer: string, key: string) => boolean,
): { value: unknown; replaced: readonly FoundInLeaves[]; left: readonly FoundInLeaves[] } {
  const marks = new Map<string, Mark[]>();
  const replaced: FoundInLeaves[] = [];
  const left: FoundInLeaves[] = [];
  for (const one of found) {
    const leaf = one.leaves[0];
    const isString = leaf?.kind === 'string' && one.leaves.length === 1;
    if (!leaf || !isString || keep(leaf.pointer, leaf.key)) {
      left.push(one);
      continue;
    }
    replaced.push(one);
    const known = marks.get(leaf.pointer) ?? [];
    known.push({ start: one.start - leaf.start, end: one.end - leaf.start, pattern: one.pattern });
    marks.set(leaf.pointer, known);
  }
  return { value: rewritten(value, '', marks), replaced, left };
}

function rewritten(node: unknown, pointer: string, marks: ReadonlyMap<string, Mark[]>): unknown {
  if (typeof node === 'string') return masked(node, marks.get(pointer) ?? []);
  if (Array.isArray(node)) return node.map((item, i) => rewritten(item, `${pointer}/${i}`, marks));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, item]) => [
      name,
      rewritten(item, pointer + pointerStep(name), marks),
    ]),
  );
}

function masked(text: string, marks: readonly Mark[]): string {
  if (marks.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const mark of [...marks].sort((a, b) => a.start - b.start)) {
    if (mark.start >= at) pieces.push(text.slice(at, mark.start), `[REDACTED:${mark.pattern}]`);
    at = Math.max(at, mark.end);
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}
