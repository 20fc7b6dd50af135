/**
 * Starts the embedded server in the given folder, reports it, and waits to be killed.
 *
 * hold-postgres <data folder> [seconds that the server outlives it]
 */
import { startEmbeddedPostgres } from '@governance/control-plane/platform/postgres/embedded-postgres';

const [dataDir = '', seconds] = process.argv.slice(2);
const log = { info: () => {}, warn: () => {} };
const server = await startEmbeddedPostgres({
  dataDir,
  log,
  ...(seconds !== undefined && { outlivesSeconds: Number(seconds) }),
});
const { pid, keeperPid, url } = server;
console.log(JSON.stringify({ pid, keeperPid, url }));
setInterval(() => {}, 1000);
