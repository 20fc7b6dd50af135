import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
    return new Worker(source, { ...options, execArgv: ['--import', 'tsx'] });
  }
  return new Worker(new URL(`./${name}.js`, callerUrl), { ...options, execArgv: [] });
}
