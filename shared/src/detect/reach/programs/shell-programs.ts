/** What programs of a command line do, by their names. */

import { wordSet } from '../word-set.ts';
import { isInterpreter } from './code-commands.ts';
import { isDiskProgram } from './disk-programs.ts';
import { isOfThings } from './listed-things.ts';
import { isMailProgram } from './mail-programs.ts';
import { nameOf } from './program-name.ts';
import { isWholeProgram } from './program-reach.ts';
import { isContainerProgram, isPackageRunner, isRunner } from './wrapped-command.ts';

export const DELETES = wordSet(
  'rm rmdir unlink shred srm rimraf trash trash-cli del del-cli erase rd ri remove-item',
);
export const OVERWRITES = wordSet('shred srm');
/** Commands of a key-value store, which a tool takes as others take those of a shell. */
export const FLUSHALL = wordSet('flushall flushdb');
export const WRITES = wordSet(
  'tee truncate touch mkdir vi vim nano set-content add-content out-file new-item clear-content mkswap',
);
export const CHANGES = wordSet('chmod chown chgrp chattr setfacl');
export const COPIES = wordSet('cp copy xcopy robocopy install rsync scp ln copy-item');
export const MOVES = wordSet('mv move ren rename move-item rename-item');
/** What may stand before a program that is called, and not merely named. */
export const PLAIN = wordSet(
  'sudo doas nohup time nice ionice exec command builtin xargs setsid coproc then do else if while until ! {',
);
export const POWERSHELLS = wordSet('powershell pwsh');
export const SHELLS = wordSet('sh bash zsh dash ksh fish ash cmd powershell pwsh');
/** Those that run a file, which may be what another command prints. */
export const TAKES_FILE = wordSet('bash sh zsh dash ksh source .');
export const DATABASES = wordSet(
  'psql mysql mariadb sqlite3 sqlcmd cqlsh snowsql usql pgcli mycli trino presto beeline duckdb clickhouse-client redis-cli mongo mongosh',
);
export const WRAPPERS = wordSet(
  'sudo doas env nohup time nice ionice exec command builtin coproc busybox xargs timeout stdbuf setsid su runuser sg script flock watch parallel unshare nsenter chroot then do else if while until ! { ssh docker podman nerdctl docker-compose kubectl eval systemd-run strace ltrace fakeroot proot taskset chrt setpriv unbuffer chronic pkexec run0 gosu su-exec sshpass tini dumb-init trap tmux screen wsl mosh pssh pdsh ansible salt toybox firejail bwrap setarch linux32 linux64 spawn shell gdb expect less man zip osascript',
);
/** Wrappers that pass a text on to a shell: `su -c 'rm -rf /'`, `watch 'rm -rf /'`. */
export const LINE_TAKERS = wordSet(
  'su runuser sg script flock watch parallel ssh eval trap tmux screen wsl mosh pssh pdsh ansible salt gdb expect less man zip osascript',
);
/** Wrappers that hand what they read to a command, as its operands. */
export const HANDS_ON = wordSet('xargs parallel');
/** Programs other than shells that run what they read. */
export const RUNS_INPUT = wordSet('ssh at batch wsl parallel source .');
/** Programs that run nothing: beside these alone, the text of a file to be written is no command. */
export const CALM = wordSet(
  'cat tee cd mkdir echo printf ls pwd touch chmod git gh glab head tail wc true export',
);
/** Whether what a program does is known here. */
export const isKnown = (name: string) =>
  [DELETES, WRITES, CHANGES, COPIES, MOVES, SHELLS, DATABASES].some((of) => of.has(name)) ||
  isDiskProgram(name) ||
  isInterpreter(name) ||
  isMailProgram(name) ||
  isWholeProgram(name) ||
  isContainerProgram(name) ||
  isOfThings(name) ||
  isPackageRunner(name) ||
  isRunner(name) ||
  name === 'find' ||
  name === 'dd' ||
  name === 'sed' ||
  LINE_TAKERS.has(name) ||
  name.startsWith('mkfs');

const LOOPS = wordSet('for foreach find');
/** Words before the program of a command, at most. */
const MAX_BEFORE = 8;

/** Whether words may begin a command that deletes what follows, or a loop over it. */
export const mayDelete = (words: readonly string[]): boolean =>
  words.slice(0, MAX_BEFORE).some((word) => {
    const name = nameOf(word);
    return DELETES.has(name) || LOOPS.has(name);
  });
