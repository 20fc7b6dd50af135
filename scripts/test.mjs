// `npm test`: prepares what an install without scripts skipped and runs every test; arguments go to
// vitest, so `npm test -- shared` runs one folder.
//
// CI's machine may stand still for seconds while other work runs on it. Where CI is set, a few files
// that failed are run once more, each in a process of its own with nothing beside it: a test that is
// tried again within its file would meet what its first try left behind. The report names them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

/** More failed files than these are no coincidence. */
const MAX_AGAIN = 4;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');

await prepare();
const args = process.argv.slice(2);
process.exitCode = process.env.CI === undefined ? run(args) : runTwice(args);

function run(given, env = {}) {
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } };
  return spawnSync(process.execPath, [vitest, 'run', ...given], options).status ?? 1;
}

function runTwice(given) {
  const folder = mkdtempSync(join(tmpdir(), 'test-run-'));
  const path = join(folder, 'failed.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./tests/support/failed-files.ts'];
    const status = run([...given, ...reporters], { FAILED_FILES: path });
    if (status === 0) return 0;
    const failed = readFailed(path);
    if (failed.length === 0 || failed.length > MAX_AGAIN) return status;
    console.log(`\nFailed, and run again alone:\n${failed.map((file) => `  ${file}`).join('\n')}`);
    return failed.every((file) => run(['--maxWorkers=1', file]) === 0) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns no file where the run ended before it could tell */
function readFailed(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).map((file) => relative(root, file));
  } catch {
    return [];
  }
}
