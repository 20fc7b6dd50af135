// `npm start`: prepares what an install without scripts left out, builds, and runs the service in
// this process. Where the build tools were left out (a production image), dist/ is run as it is.
import { existsSync } from 'node:fs';

process.setSourceMapsEnabled(true);
const service = new URL('../dist/service.js', import.meta.url);
try {
  const { prepare } = await import('./prepare.mjs');
  await prepare();
  const { buildService } = await import('./build.mjs');
  await buildService();
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !existsSync(service)) throw error;
}
const { main } = await import(service.href);
await main(process.env);
