/** Starts the embedded server on the folder it is given, says so, and waits to be killed. */
import { startEmbeddedPostgres } from '@governance/control-plane/platform/embedded-postgres';

const log = { info: () => {}, warn: () => {} };
const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', log });
console.log(JSON.stringify({ pid: server.pid, url: server.url }));
setInterval(() => {}, 1000);
