/** Where the command begins that another one runs: on a host, in a container, from a package. */

import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';

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

const CONTAINERS = wordSet('docker podman nerdctl docker-compose kubectl');
const PACKAGES = wordSet('npx bunx pnpx');
const MANAGERS = wordSet('npm pnpm yarn bun');
const RUNS_PACKAGE = wordSet('exec x dlx');

/** Those of programs for containers, before their command. */
const CONTAINER_VALUE =
  /^(?:-[cHlnsfp]|--(?:context|host|config|log-level|tlscacert|tlscert|tlskey|namespace|kubeconfig|cluster|user|server|token|as|file|project-name|project-directory|profile|env-file|connection|url|identity|root))$/;

/** What stands between a wrapper and its command. */
interface Before {
  readonly hasValue: RegExp;
  /** Whether an operand of its own comes first: a folder, a file. */
  readonly hasOperand?: true;
}
const user: Before = { hasValue: USER_VALUE };
const BEFORE = new Map<string, Before>([
  ['sudo', user],
  ['doas', user],
  ['runuser', { hasValue: /^(?:-[lfmpP]*[ugGsTw]|--(?:user|group|supp-group|shell))$/ }],
  ['chroot', { hasValue: /^--(?:userspec|groups)$/, hasOperand: true }],
  [
    'flock',
    { hasValue: /^(?:-[a-z]*[wE]|--(?:timeout|wait|conflict-exit-code))$/, hasOperand: true },
  ],
  ['env', { hasValue: /^(?:-[i0v]*[uC]|--(?:unset|chdir))$/ }],
  ['xargs', { hasValue: /^(?:-[0rtxop]*[aEdILnPs]|--(?:arg-file|delimiter|replace|max-args))$/ }],
]);

/** Programs that run others in an environment, and the words behind which those stand. */
const RUNNERS = wordSet(
  'uv poetry pipenv pdm hatch rye conda mamba micromamba bundle op doppler infisical dotenv aws-vault direnv limactl lxc incus',
);
const RUN_WORDS = wordSet('run exec shell x --');
const RUNNER_VALUE =
  /^(?:-[npe]|--(?:name|prefix|with|python|project|directory|env-file|config|extra|group))$/;

/** Words behind a program among which its `exec` stands. */
const MAX_BEFORE_EXEC = 8;

/** Whether a program runs a command in a container, possibly. */
export const isContainerProgram = (name: string): boolean => CONTAINERS.has(name);

/** Whether a program runs the command of a package. */
export const isPackageRunner = (name: string): boolean => PACKAGES.has(name);

/** From where on a wrapper's command is to be looked for: a user or a container is none. */
export function innerFrom(words: readonly string[], at: number): number {
  const name = nameOf(words[at]);
  const before = BEFORE.get(name);
  if (before?.hasOperand) return afterName(words, at + 1, before.hasValue);
  if (before) return afterOptions(words, at + 1, before.hasValue);
  if (!CONTAINERS.has(name)) return at + 1;
  const from = containerCommandAt(words, at);
  const exec = words.slice(from, from + MAX_BEFORE_EXEC).indexOf('exec');
  return exec < 0 ? at + 1 : afterName(words, from + exec + 1, EXEC_VALUE);
}

/** Where the command of a program for containers stands, behind options with their values. */
export const containerCommandAt = (words: readonly string[], at: number): number =>
  afterOptions(words, at + 1, CONTAINER_VALUE);

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

export const isRunner = (name: string): boolean => RUNNERS.has(name);

/** Where the command begins that is run in an environment: `uv run`, `op run --`. */
export function runCommandAt(words: readonly string[], at: number): number | undefined {
  if (!RUNNERS.has(nameOf(words[at]))) return undefined;
  const run = words.findIndex((word, index) => index > at && RUN_WORDS.has(word));
  if (run < 0 || run > at + 4) return undefined;
  const from = afterOptions(words, run + 1, RUNNER_VALUE);
  // Behind the name of an environment or a profile: `aws-vault exec name -- aws`.
  const over = words.indexOf('--', from);
  return over >= 0 && over <= from + 2 ? over + 1 : from;
}

/** The line for a shell that a package runner is given: `npx -c 'rm -rf /'`, `--call='rm -rf /'`. */
export function packageLine(words: readonly string[], from: number, to: number): string {
  const before = words[to - 1];
  if (before === '-c' || before === '--call') return words[to] ?? '';
  const option = words.slice(from, to).find((word) => CALL.test(word));
  return option === undefined ? '' : option.replace(CALL, '');
}

const CALL = /^(?:--call=|-c(?=.))/;

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
