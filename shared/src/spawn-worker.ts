import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread whose entry file is `<name>.ts` beside the caller (tests and scripts) or
 * `<name>.js` beside the bundle (production), where the build puts every entry point.
 *
 * @param callerUrl the caller's `import.meta.url`
 * @param name the entry file's name without its ending, unique in the repository
 * @param options passed to `Worker`; in source form the loader for TypeScript is added
 */
export function spawnWorker(callerUrl: string, name: string, options: WorkerOptions = {}): Worker {
  const source = new URL(`./${name}.ts`, callerUrl);
  if (callerUrl.endsWith('.ts') && existsSync(fileURLToPath(source))) {
    return new Worker(throughLoader(source), { ...options, execArgv: [] });
  }
  return new Worker(new URL(`./${name}.js`, callerUrl), { ...options, execArgv: [] });
}

/**
 * `--import tsx` does nothing in a worker thread of Node 20, so the worker starts with a line that
 * registers the loader for itself. The loader is a development dependency: it is looked for only
 * here, where sources run.
 */
function throughLoader(source: URL): URL {
  // The package's own resolution from here would pick its CommonJS form, which cannot register.
  const manifest = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = new URL('./dist/esm/api/index.mjs', manifest).href;
  const code = `import { register } from ${JSON.stringify(loader)};
register();
await import(${JSON.stringify(source.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
