import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { projectRoot } from './assets.ts';

/**
 * Starts a worker thread whose entry file is `<name>.ts` beside the caller (tests and scripts) or
 * `<name>.js` beside the bundle (production), where the build puts every entry point.
 *
 * @param callerUrl the caller's `import.meta.url`
 * @param name the entry file's name without its ending, unique in the repository
 * @param options passed to `Worker`
 */
export function spawnWorker(callerUrl: string, name: string, options: WorkerOptions = {}): Worker {
  const source = fileURLToPath(new URL(`./${name}.ts`, callerUrl));
  const isSource = callerUrl.endsWith('.ts') && existsSync(source);
  const entry = isSource ? bundled(source, name) : new URL(`./${name}.js`, callerUrl);
  return new Worker(entry, { ...options, execArgv: [] });
}

const bundles = new Map<string, URL>();

/**
 * One file of a worker's sources, built once in each process. A TypeScript loader in the thread
 * would take ten times as long at each start. The bundler is a development dependency, resolved
 * only here, where sources run.
 */
function bundled(source: string, name: string): URL {
  const known = bundles.get(source);
  if (known) return known;
  const require = createRequire(import.meta.url);
  const { buildSync } = require('esbuild') as typeof import('esbuild');
  const { outputFiles } = buildSync({
    absWorkingDir: projectRoot,
    entryPoints: [source],
    write: false,
    bundle: true,
    packages: 'external',
    alias: ownPackages(require),
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  const text = outputFiles[0]?.text ?? '';
  // Below the root, or the thread would not find the packages outside the bundle.
  const folder = join(projectRoot, '.tmp', 'workers');
  const outfile = join(folder, `${name}-${hash('sha256', text, 'hex').slice(0, 16)}.mjs`);
  if (!existsSync(outfile)) {
    mkdirSync(folder, { recursive: true });
    // Atomically: another process may be about to load it.
    const written = `${outfile}.${process.pid}`;
    writeFileSync(written, text);
    renameSync(written, outfile);
  }
  const url = pathToFileURL(outfile);
  bundles.set(source, url);
  return url;
}

/** The sources of the workspaces, which are part of the bundle. */
function ownPackages(require: NodeJS.Require): Record<string, string> {
  const { workspaces } = require(join(projectRoot, 'package.json')) as { workspaces: string[] };
  return Object.fromEntries(
    workspaces.map((folder) => [`@governance/${folder}`, join(projectRoot, folder, 'src')]),
  );
}
