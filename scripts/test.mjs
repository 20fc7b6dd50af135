// `npm test`: prepares what an install without scripts skipped and runs every test; arguments go to
// vitest, so `npm test -- shared` runs one folder.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
await prepare();
const { status } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);
