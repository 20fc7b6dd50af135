/** The PostgreSQL of a bench: a new one on disk, with fsync, that is gone afterwards. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@governance/control-plane/platform/postgres/embedded-postgres';
import pg from 'pg';

export async function withBenchPostgres(
  run: (server: EmbeddedPostgres) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-bench-'));
  chmodSync(dataDir, 0o755); // When run as root, PostgreSQL's own user needs access.
  const log = { info: () => {}, warn: (message: string) => console.error(message) };
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    await run(server);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** One connection that row-level security does not bind; its caller ends it. */
export function openSuperuser(server: EmbeddedPostgres): pg.Pool {
  const url = new URL(server.superuserUrl);
  url.pathname = new URL(server.url).pathname;
  const pool = new pg.Pool({ connectionString: url.href, max: 1 });
  pool.on('error', () => {}); // After a failure the server may end first.
  return pool;
}
