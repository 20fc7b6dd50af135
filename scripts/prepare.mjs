// Runs after every `npm ci` and `npm install` (and, for installs without scripts, before start and
// test): generates the database client from prisma/schema.prisma. Nothing is downloaded: the
// generator only needs a path to some existing file in place of its migration engine, and
// migrations use the WebAssembly engine (prisma/migrate.ts).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const schema = join(root, 'prisma/schema.prisma');
const generated = join(root, 'control-plane/src/platform/generated');
const stamp = join(generated, '.source');

export async function prepare() {
  const prisma = findPackage('prisma');
  // An installation without development packages runs the built service, which contains the client.
  // The presence of prisma proves nothing: it is installed as a peer of its client.
  if (!prisma || !findPackage('esbuild')) return;
  const { version } = JSON.parse(readFileSync(prisma, 'utf8'));
  const source = createHash('sha256').update(version).update(readFileSync(schema)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return;
  execFileSync(
    process.execPath,
    [join(dirname(prisma), 'build/index.js'), 'generate', '--schema', schema, '--no-hints'],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
    },
  );
  writeFileSync(stamp, source);
}

function findPackage(name) {
  try {
    return createRequire(join(root, 'package.json')).resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepare();
