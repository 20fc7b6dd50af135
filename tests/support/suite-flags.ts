/** How V8 runs the suite, and the services that it starts. */
import { execFileSync } from 'node:child_process';

/**
 * Most code of a test runs a few times only: V8 took more CPU to optimise it than it saved. Its
 * WebAssembly stays as it is, and JavaScript has to be eight times as hot as by default. Node 20
 * counts that in bytes, later versions in calls.
 */
const FLAGS = [
  '--liftoff-only',
  '--interrupt-budget=1000000',
  '--invocation-count-for-maglev=3200',
  '--invocation-count-for-turbofan=24000',
];

/** Those that this version of Node knows: it does not start with any other. */
export function suiteFlags(): string[] {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const names = new Set(known.match(/^ {2}--[a-z0-9-]+/gm)?.map((name) => name.trim()));
  return FLAGS.filter((flag) => names.has(nameOf(flag)));
}

/** The suite's flags among those that a process was started with. */
export const suiteFlagsOf = (execArgv: readonly string[]): string[] =>
  execArgv.filter((flag) => FLAGS.includes(flag));

const nameOf = (flag: string): string => flag.replace(/=.*/, '');
