// `npm start`: prepares what an install without scripts left out, builds, and runs the service in
// this process; `npm run data-plane`: a data plane alone. With a command of the data plane's command
// line, or --help, runs that instead. Where the build tools were left out (a production image),
// dist/ is run as it is.
import { existsSync } from 'node:fs';

process.setSourceMapsEnabled(true);
const service = new URL('../dist/service.js', import.meta.url);
const args = process.argv.slice(2);
const starts = args.every((arg) => arg === '--data-plane');
// A command is wanted at once: it runs on the last build, if there is one.
const isReady = !starts && existsSync(service);
try {
  if (!isReady) {
    const { prepare } = await import('./prepare.mjs');
    await prepare();
    const { buildService } = await import('./build.mjs');
    await buildService();
    // esbuild is a process of its own, which would stay as long as the service.
    const { stop } = await import('esbuild');
    await stop();
  }
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !existsSync(service)) throw error;
}
// npm passes a signal to the shell between, and the shell ends alone: the service would go on unseen.
if (starts && process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
  // Once: a second signal ends the service on the spot, and Ctrl-C ends the shell between, too.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => clearInterval(watch));
}
const { main } = await import(service.href);
await main(process.env, args);
