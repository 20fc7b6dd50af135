// `npm start`: prepares what an install without scripts skipped, builds, and runs the service in
// this process; `npm run data-plane`: only a data plane. Given a command of the data plane's
// command line, or --help, it runs that instead. Without the build tools (a production image), it
// runs dist/ as it is; so it does for a user who may not write there, if no source is newer.
import { existsSync } from 'node:fs';
import { canBuild, isBuildCurrent } from './dist.mjs';

process.setSourceMapsEnabled(true);
const service = new URL('../dist/service.js', import.meta.url);
const args = process.argv.slice(2);
const starts = args.every((arg) => arg === '--data-plane');
// A command should start at once: it runs on the last build, if there is one.
const isReady = !starts && existsSync(service);
try {
  if (!isReady) {
    const { buildService } = await import('./build.mjs');
    if (canBuild()) {
      const { prepare } = await import('./prepare.mjs');
      await prepare();
      await buildService();
      // esbuild runs in a separate process, which would live as long as the service.
      const { stop } = await import('esbuild');
      await stop();
    } else if (!isBuildCurrent()) {
      console.error(
        'dist/ cannot be written by this user: run npm run build as its owner, or clone the project as this user',
      );
      process.exit(1);
    }
  }
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !existsSync(service)) throw error;
}
// npm passes a signal to the intermediate shell, which would end alone while the service kept
// running unseen.
if (starts && process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
  // Once: a second signal ends the service immediately, and Ctrl-C also ends the shell.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => clearInterval(watch));
}
const { main } = await import(service.href);
await main(process.env, args);
