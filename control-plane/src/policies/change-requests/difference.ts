/**
 * Where two contents of a policy differ: fields, and the lines of the source between the first and
 * the last that differ. Linear in the size of both.
 */
import type { PolicyStatus } from '../policy.ts';

/** All fields that a change of a policy may concern. */
export interface PolicyContent {
  name: string;
  description: string;
  regoContent: string;
  status: PolicyStatus;
}

export interface Difference {
  field: 'name' | 'description' | 'status' | 'rego_content';
  before: string;
  after: string;
  /** Of rego_content: the line, from 1, at which `before` and `after` begin. */
  line?: number;
}

/** Characters of each side that a message shows. */
const SHOWN = 500;

export function differencesOf(before: PolicyContent, after: PolicyContent): Difference[] {
  const differences: Difference[] = [];
  for (const field of ['name', 'description', 'status'] as const) {
    if (before[field] === after[field]) continue;
    differences.push({ field, before: before[field], after: after[field] });
  }
  if (before.regoContent !== after.regoContent) {
    differences.push({
      field: 'rego_content',
      ...differingLines(before.regoContent, after.regoContent),
    });
  }
  return differences;
}

function differingLines(one: string, other: string) {
  const [before, after] = [one.split('\n'), other.split('\n')];
  let first = 0;
  while (first < before.length && first < after.length && before[first] === after[first]) first++;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > first && endAfter > first && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--;
    endAfter--;
  }
  return {
    before: before.slice(first, endBefore).join('\n'),
    after: after.slice(first, endAfter).join('\n'),
    line: first + 1,
  };
}

export function describeDifference({ before, after, line }: Difference): string {
  const place = line === undefined ? '' : `from line ${line}: `;
  return `${place}was ${shown(before)}, is ${shown(after)}`;
}

function shown(text: string): string {
  if (text === '') return 'nothing';
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text;
  return JSON.stringify(cut);
}
