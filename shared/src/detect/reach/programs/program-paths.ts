/** Paths that programs move, copy, change or write, as their operands name them. */
import type { TouchedPath } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';
import { CHANGES, COPIES, MOVES, WRITES } from './shell-programs.ts';

type Path = Pick<TouchedPath, 'text' | 'use' | 'isRecursive' | 'isMoved'>;

/** The part behind a host; a single letter is a drive. */
const REMOTE = /^[\w.@-]{2,255}:([/~].*)$/s;

/** @returns undefined for a program that does something else */
export function pathsOf(
  name: string,
  options: readonly string[],
  operands: readonly string[],
  isRecursive: boolean,
): readonly Path[] | undefined {
  const last = operands.slice(-1);
  if (name === 'userdel' || name === 'deluser') {
    const isHome = options.some((one) => /^(?:-[a-z]*r[a-z]*|--remove|--remove-home)$/.test(one));
    const homes = isHome ? operands.slice(0, 1) : [];
    return homes.map((one) => ({ text: `/home/${one}`, use: 'delete', isRecursive: true }));
  }
  if (MOVES.has(name)) {
    const moved = operands
      .slice(0, -1)
      .map((text): Path => ({ text, use: 'delete', isMoved: true }));
    return [...moved, ...last.map(written)];
  }
  if (COPIES.has(name)) return copied(options, operands);
  if (CHANGES.has(name)) {
    // The mode or the owner comes first; reading it as a path is harmless.
    const use = isRecursive ? 'delete' : 'write';
    const changed = options.some((one) => WITHOUT_MODE.test(one)) ? operands : operands.slice(1);
    return changed.map((text) => ({ text, use, isRecursive, isMoved: true }));
  }
  const isEdit = name === 'sed' && options.some((one) => /^-[a-z]*i/.test(one));
  if (EMPTIES.has(name)) {
    const many = operands.filter((text) => /[*?]/.test(text));
    return [...operands.map(written), ...many.map((text): Path => ({ text, use: 'delete' }))];
  }
  return WRITES.has(name) || isEdit ? operands.map(written) : undefined;
}

/** Options of setfacl that take the place of a mode. */
const WITHOUT_MODE = /^(?:-[a-zA-Z]*[bk]|--remove-(?:all|default))$/;
/** Of all files that a wildcard finds, nothing is left. */
const EMPTIES = wordSet('truncate clear-content');

const written = (text: string): Path => ({ text, use: 'write' });

function copied(options: readonly string[], operands: readonly string[]): readonly Path[] {
  const places = operands.filter((word) => !/^\/[a-z]{1,8}(?::\S{1,40})?$/i.test(word));
  const isOfWindows = operands.some((word) => /^\/(?:mir|purge|move|e)$/i.test(word));
  const target = (isOfWindows ? places : operands).slice(-1);
  const [, remote] = REMOTE.exec(target[0] ?? '') ?? [];
  const targets = remote === undefined ? target : [...target, remote];
  const read = operands.slice(0, -1).map((text): Path => ({ text, use: 'read' }));
  const isTold = options.some((one) => /^-[a-zA-Z]*n/.test(one) || one.startsWith('--dry-run'));
  const isEmptied = options.some((option) => option.startsWith('--del')) && !isTold;
  // Of robocopy, whose options look like paths.
  const isMirror = operands.some((word) => /^\/(?:mir|purge)$/i.test(word));
  // Whatever is in the target but not in the source is deleted.
  const emptied =
    isEmptied || isMirror
      ? targets.map((text): Path => ({ text, use: 'delete', isRecursive: true }))
      : [];
  return [...read, ...targets.map(written), ...emptied];
}
