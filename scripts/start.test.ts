import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A checkout whose dist/ was built at a time and only says so; its build tool reports its use. */
function aCheckout(builtAt: Date): string {
  const root = mkdtempSync(join(tmpdir(), 'start-'));
  folders.push(root);
  chmodSync(root, 0o755);
  for (const name of ['start', 'build', 'prepare', 'dist', 'keep-constants']) {
    cpSync(join(import.meta.dirname, `${name}.mjs`), join(root, 'scripts', `${name}.mjs`));
  }
  const esbuild = join(root, 'node_modules/esbuild');
  for (const path of [join(root, 'dist'), esbuild]) mkdirSync(path, { recursive: true });
  writeFileSync(
    join(esbuild, 'package.json'),
    '{"name": "esbuild", "type": "module", "exports": {".": "./index.js", "./package.json": "./package.json"}}',
  );
  writeFileSync(
    join(esbuild, 'index.js'),
    `export const build = () => { throw new Error('built'); }; export const transform = build, stop = build;`,
  );
  writeFileSync(
    join(root, 'package.json'),
    '{"type": "module", "workspaces": [], "devDependencies": {}}',
  );
  writeFileSync(join(root, 'service.ts'), '');
  const service = join(root, 'dist/service.js');
  writeFileSync(service, `export const main = () => console.log('the build runs');`);
  utimesSync(service, builtAt, builtAt);
  chmodSync(service, 0o444);
  chmodSync(join(root, 'dist'), 0o555);
  return root;
}

/** As a user who may not write there. */
function start(root: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/start.mjs'], {
    cwd: root,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  return { status, stdout, stderr };
}

const IN_A_MINUTE = new Date(Date.now() + 60_000);
const A_MINUTE_AGO = new Date(Date.now() - 60_000);

it.runIf(process.platform !== 'win32')('runs a current build that its user may not write', () => {
  expect(start(aCheckout(IN_A_MINUTE))).toEqual({
    status: 0,
    stdout: 'the build runs\n',
    stderr: '',
  });
});

it.runIf(process.platform !== 'win32')(
  'says in one sentence that an older one must be built',
  () => {
    expect(start(aCheckout(A_MINUTE_AGO))).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'dist/ cannot be written by this user: run npm run build as its owner, or clone the project as this user\n',
    });
  },
);
