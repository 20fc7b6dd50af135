/**
 * The victim of rotate-own-keys.test.ts: a command of the data plane whose process kills itself
 * before the n-th file that it would rename or remove.
 *
 *   killed-command <n> <argument> …
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [n = '0', ...args] = process.argv.slice(2);
let left = Number(n);
for (const name of ['renameSync', 'rmSync'] as const) {
  const real = fs[name] as (...given: unknown[]) => void;
  Object.assign(fs, {
    [name]: (...given: unknown[]) => {
      if (--left === 0) process.kill(process.pid, 'SIGKILL');
      real(...given);
    },
  });
}
syncBuiltinESMExports();
const { runCommand } = await import('../local-control/commands.ts');
process.exitCode = await runCommand(args, process.env);
