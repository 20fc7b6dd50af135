/** A command whose program is a variable, or what a substitution prints: `$SUDO rm -rf /`. */

import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';
import type { ShellCommand } from './shell-frame.ts';
import { PRINTED } from './shell-variables.ts';
import { afterOptions } from './wrapped-command.ts';

/** Alone: behind a folder the program is known. */
const VARIABLE = /^\$(?:env:)?(?:([A-Za-z_]\w{0,60})|\{([A-Za-z_]\w{0,60})[^{}/]{0,99}\}|[@*1-9])$/;
/** Options of sudo and the like that have a value. */
const HAS_VALUE = /^-[ugC]$/;
/** What such variables hold if they are called so: their own `rm` deletes no files. */
const PROGRAMS = wordSet(
  'git hg svn docker podman nerdctl compose kubectl oc helm aws gsutil gcloud az mc rclone npm pnpm yarn rm rmdir',
);

/** Whether only the run shows which program it is; perhaps none, if the variable is empty. */
export function isUnknown(word: string | undefined, { isCut = false }: ShellCommand): boolean {
  if (word === undefined || PROGRAMS.has(programOf(word))) return false;
  return VARIABLE.test(word) || (isCut && (word === '' || word === PRINTED));
}

/** The name of the program, which that of a variable may say: `$DOCKER`, `${KUBECTL_BIN}`. */
export function programOf(word: string | undefined): string {
  const [, bare, braced = bare] = VARIABLE.exec(word ?? '') ?? [];
  const said = braced?.toLowerCase().split('_');
  return said?.find((one) => PROGRAMS.has(one)) ?? nameOf(word);
}

/** Where the program stands if the word before it is empty or runs others, behind its options. */
export function behindUnknown(words: readonly string[], at: number): number {
  let next = afterOptions(words, at + 1, HAS_VALUE);
  // Of PowerShell, which keeps what a command gives: `$gone = Remove-Item …`.
  while (words[next] === '=' || /^[A-Za-z_]\w*=/.test(words[next] ?? '')) next++;
  return next;
}
