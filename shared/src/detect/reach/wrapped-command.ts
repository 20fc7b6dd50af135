/** Where the command begins that another one runs: on a host, in a container, from a package. */
import { nameOf } from './shell-words.ts';
import { wordSet } from './word-set.ts';

/** Options of ssh that have a value, in the next word. */
const SSH_VALUE = /^-[BbcDEeFIiJLlmOopQRSWw]$/;
/** Those of sudo and doas; a value may also follow without a blank: `-uroot`. */
const USER_VALUE =
  /^(?:-[bknAEHKPSVeils]*[ugpCDRTUrt]|--(?:user|group|prompt|chdir|chroot|role|type))$/;
/** Those of `docker exec` and `kubectl exec`. */
const EXEC_VALUE =
  /^(?:-[itdqT]*[uewnc]|--(?:user|env|env-file|workdir|detach-keys|index|container|namespace))$/;
/** Those of npx and its like. */
const PACKAGE_VALUE = /^(?:-[pw]|--(?:package|workspace|cache|registry|prefix))$/;

const USERS = wordSet('sudo doas');
const CONTAINERS = wordSet('docker podman nerdctl docker-compose kubectl');
const PACKAGES = wordSet('npx bunx pnpx');
const MANAGERS = wordSet('npm pnpm yarn bun');
const RUNS_PACKAGE = wordSet('exec x dlx');

/** Words behind a program among which its `exec` stands. */
const MAX_BEFORE_EXEC = 8;

/** Whether a program runs a command in a container, possibly. */
export const isContainerProgram = (name: string): boolean => CONTAINERS.has(name);

/** Whether a program runs the command of a package. */
export const isPackageRunner = (name: string): boolean => PACKAGES.has(name);

/** From where on a wrapper's command is to be looked for: a user or a container is none. */
export function innerFrom(words: readonly string[], at: number): number {
  const name = nameOf(words[at]);
  if (USERS.has(name)) return afterOptions(words, at + 1, USER_VALUE);
  if (!CONTAINERS.has(name)) return at + 1;
  const exec = words.slice(at, at + MAX_BEFORE_EXEC).indexOf('exec');
  return exec < 0 ? at + 1 : afterName(words, at + exec + 1, EXEC_VALUE);
}

/** Where the command begins that ssh runs on its host. */
export const afterHost = (words: readonly string[], at: number): number =>
  afterName(words, at + 1, SSH_VALUE);

/** Where the command of a package begins that is run: `npx rimraf`, `npm exec -- rimraf`. */
export function packageCommandAt(words: readonly string[], at: number): number | undefined {
  const name = nameOf(words[at]);
  if (PACKAGES.has(name)) return afterOptions(words, at + 1, PACKAGE_VALUE);
  if (!MANAGERS.has(name)) return undefined;
  const run = afterOptions(words, at + 1, PACKAGE_VALUE);
  return RUNS_PACKAGE.has(words[run] ?? '')
    ? afterOptions(words, run + 1, PACKAGE_VALUE)
    : undefined;
}

/** Whether an option precedes what is a line for a shell: `npx -c 'rm -rf /'`. */
export const isBeforeLine = (word: string | undefined): boolean =>
  word === '-c' || word === '--call';

/** The name of a package's command, without a version: `rimraf@6`. */
export const packageCommand = (word: string | undefined): string =>
  nameOf(word).replace(/(?<=.)@.*$/, '');

/** What follows a host or a container; options may follow that, too. */
function afterName(words: readonly string[], from: number, hasValue: RegExp): number {
  return afterOptions(words, afterOptions(words, from, hasValue) + 1, hasValue);
}

/** @param hasValue the options whose value is the next word */
export function afterOptions(words: readonly string[], from: number, hasValue: RegExp): number {
  let at = from;
  while (words[at]?.startsWith('-')) at += hasValue.test(words[at] as string) ? 2 : 1;
  return at;
}
