/**
 * `npm run bench:trace`: how long the trace of a workflow session with many events takes, from the
 * request to the complete answer, with the built service on a PostgreSQL with fsync. The events are
 * decisions of four agents in chains of ten, stored by the product's own projection.
 *
 * BENCH_EVENTS (10000), BENCH_ROUNDS (5)
 */
import { generateKeyPairSync } from 'node:crypto';
import type { EmbeddedPostgres } from '@governance/control-plane/platform/postgres/embedded-postgres';
import { workflowEventProjection } from '@governance/control-plane/workflows/workflow-event-projection';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import type pg from 'pg';
import { aDecision, createWriter } from '../tests/support/a-data-plane.ts';
import { type AdminApi, adminApi } from '../tests/support/admin-api.ts';
import { startService } from '../tests/support/service-process.ts';
import { openSuperuser, withBenchPostgres } from './bench-postgres.ts';
import { median } from './report.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 10_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const BATCH = 500;
const CHAIN = 10;

await withBenchPostgres(run);

async function run(server: EmbeddedPostgres): Promise<void> {
  const jwt = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  });
  const service = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: server.url,
      SERVICE_JWT_PRIVATE_KEY: jwt.privateKey,
      SERVICE_JWT_PUBLIC_KEY: jwt.publicKey,
    },
  });
  try {
    const admin = await adminApi(service.url, 'admin', service.adminPassword);
    const { path, session, agents } = await aSession(admin);
    await writeEvents(openSuperuser(server), session, agents);
    for (const file of [path, `${path}/export`]) await measure(admin, file);
  } finally {
    await service.dispose();
  }
}

async function aSession(admin: AdminApi) {
  const agents: string[] = [];
  for (const name of ['planner', 'reader', 'writer', 'checker']) {
    const body = { name, agent_type: 'bench', owner: 'bench', description: '' };
    agents.push((await admin.post<{ id: string }>('/api/v1/agents', body)).id);
  }
  const [owner, ...others] = agents;
  const participants = others.map((agent_id) => ({ agent_id, role: 'r', allowed_actions: ['*'] }));
  const workflow = await admin.post<{ id: string }>('/api/v1/workflows', {
    ...{ name: 'bench', owner_agent_id: owner, participants },
  });
  const sessions = `/api/v1/workflows/${workflow.id}/sessions`;
  const session = await admin.post<{ id: string }>(sessions, {});
  return { path: `${sessions}/${session.id}/trace`, session: session.id, agents };
}

/** Like the projection during ingest: one transaction per batch. */
async function writeEvents(
  superuser: pg.Pool,
  session: string,
  agents: readonly string[],
): Promise<void> {
  const client = await superuser.connect();
  try {
    const { rows } = await client.query<{ tenant_id: string }>(
      'SELECT tenant_id::text AS tenant_id FROM workflow_sessions WHERE id = $1',
      [session],
    );
    const tenantId = rows[0]?.tenant_id ?? '';
    const { privateKey } = generateKeyPairSync('ed25519');
    const plane = createWriter(tenantId, uuidv7(), privateKey);
    plane.boot();
    const begun = Date.now() - EVENTS;
    let parent: string | null = null;
    for (let done = 0; done < EVENTS; done += BATCH) {
      const records = [];
      for (let n = done; n < Math.min(done + BATCH, EVENTS); n++) {
        const depth = n % CHAIN;
        const decision = aDecision({
          timestamp: new Date(begun + n).toISOString(),
          agent_id: agents[n % agents.length] ?? '',
          workflow_session_id: session,
          causal_depth: depth,
          parent_event_id: depth === 0 ? null : parent,
        });
        parent = decision.id;
        const record = parseRecord(plane.append(decision).bytes);
        records.push({ record, agentId: decision.agent_id });
      }
      await client.query('BEGIN');
      await workflowEventProjection(() => new Date()).store(client, tenantId, records);
      await client.query('COMMIT');
    }
    await client.query('ANALYZE');
  } finally {
    client.release();
    await superuser.end();
  }
}

async function measure(admin: AdminApi, path: string): Promise<void> {
  const took: number[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const trace = await admin.get<{ agent_summaries: Record<string, { event_count: number }> }>(
      path,
    );
    took.push(performance.now() - started);
    const counts = Object.values(trace.agent_summaries).map(({ event_count }) => event_count);
    const shown = counts.reduce((sum, count) => sum + count, 0);
    if (shown !== Math.min(EVENTS, 10_000)) throw new Error(`${shown} of ${EVENTS} events`);
    bytes = Buffer.byteLength(JSON.stringify(trace));
  }
  const [first, worst] = [took[0] ?? 0, Math.max(...took)];
  console.log(
    `${path.endsWith('/export') ? 'export' : 'trace'} of ${EVENTS} events, ${(bytes / 1e6).toFixed(1)} MB: first ${first.toFixed(0)} ms, median ${median(took).toFixed(0)} ms, longest ${worst.toFixed(0)} ms`,
  );
}
