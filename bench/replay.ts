/**
 * `npm run bench:replay`: how long a replay of recorded decisions takes, from its start to its
 * stored result, on a PostgreSQL with fsync. Decisions and payloads are written beforehand,
 * encrypted as the product does; the longest block of the event loop meanwhile is also reported.
 *
 * BENCH_DECISIONS (100000), BENCH_ROUNDS (3)
 */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createDataKeys, encryptUnder } from '@governance/control-plane/key-management/data-keys';
import { createKeyProviders } from '@governance/control-plane/key-management/key-providers';
import { PAYLOAD_PURPOSE } from '@governance/control-plane/payloads/payload-ingest';
import { payloadContext } from '@governance/control-plane/payloads/payload-store';
import { createChangeBus } from '@governance/control-plane/platform/database/change-bus';
import { connectDatabase } from '@governance/control-plane/platform/database/database';
import { migrateDatabase } from '@governance/control-plane/platform/database/migrations';
import { createTenantDatabase } from '@governance/control-plane/platform/database/tenant-scope';
import { createMasterKey } from '@governance/control-plane/platform/keys/master-key';
import type { EmbeddedPostgres } from '@governance/control-plane/platform/postgres/embedded-postgres';
import { createReplayService } from '@governance/control-plane/replays/replay-service';
import { runDue } from '@governance/control-plane/replays/replay-tasks';
import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { Secret } from '@governance/shared/settings';
import type pg from 'pg';
import { aDataPlane, aDecision, type createWriter } from '../tests/support/a-data-plane.ts';
import { aTenant } from '../tests/support/a-tenant.ts';
import { openSuperuser, withBenchPostgres } from './bench-postgres.ts';
import { median } from './report.ts';

const DECISIONS = Number(process.env.BENCH_DECISIONS ?? 100_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const BATCH = 1_000;

await withBenchPostgres(run);

async function run(server: EmbeddedPostgres): Promise<void> {
  await migrateDatabase(server.url);
  const superuser = openSuperuser(server);
  const connections = await connectDatabase({
    ...{ url: server.url, poolSize: 4, maxOverflow: 0, onConnectionError: () => {} },
  });
  const changes = createChangeBus((error) => {
    throw error;
  });
  const now = () => new Date();
  const db = createTenantDatabase({ connections, changes, now });
  const compiler = createRegoCompiler();
  try {
    const providers = createKeyProviders(createMasterKey(new Secret(randomBytes(32))));
    const dataKeys = createDataKeys({ db, providers, now });
    const scope = await aTenant({ db });
    const policyId = await writePolicies(superuser, scope.tenantId);
    const plane = await aDataPlane({ db }, scope);
    const choice = { purpose: PAYLOAD_PURPOSE, provider: 'local', keyId: '' } as const;
    const key = await dataKeys.current(scope, choice);
    await writeDecisions(superuser, { tenantId: scope.tenantId, plane, key });

    const deps = {
      db,
      compiler,
      readSettings: async () => ({ tenant_id: scope.tenantId, mcp_servers: {} }),
      dataKeys,
      now,
      tokenNow: now,
      settledNow: now,
    };
    const replays = createReplayService(deps);
    const seconds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      const started = performance.now();
      const cpu = process.cpuUsage();
      const span = { from: new Date(0), to: new Date(Date.now() + 3_600_000) };
      const { id } = await replays.start(scope, policyId, span);
      delay.enable();
      await runDue(deps, new AbortController().signal);
      delay.disable();
      const { status, result } = await replays.get(scope, policyId, id);
      seconds.push((performance.now() - started) / 1_000);
      const { judged, changed } = result;
      const { user, system } = process.cpuUsage(cpu);
      if (status !== 'completed' || judged !== DECISIONS) throw new Error(`${status}: ${judged}`);
      const [took, p99, max] = [seconds.at(-1) ?? 0, delay.percentile(99) / 1e6, delay.max / 1e6];
      console.log(
        `${judged} judged, ${changed} changed in ${took.toFixed(2)} s (${((user + system) / 1e6).toFixed(2)} s CPU of Node); event loop p99 ${p99.toFixed(1)} ms, max ${max.toFixed(1)} ms`,
      );
    }
    const middle = median(seconds);
    console.log(
      `median ${middle.toFixed(2)} s, ${Math.round(DECISIONS / middle)} decisions a second`,
    );
  } finally {
    await compiler.close();
    await superuser.end();
    await connections.close();
  }
}

/** The baseline pack, and a policy that denies writing. @returns the latter's id */
async function writePolicies(superuser: pg.Pool, tenantId: string): Promise<string> {
  const rego = 'package freeze\n\ndeny contains "no writing" if input.request.action == "write"\n';
  const freeze = { name: 'Freeze', rego_content: rego };
  let id = '';
  for (const { name, rego_content } of [...baselinePack(), freeze]) {
    id = uuidv7();
    await superuser.query(
      `INSERT INTO policies (tenant_id, id, name, rego_content, status) VALUES ($1, $2, $3, $4, 'active')`,
      [tenantId, id, name, rego_content],
    );
  }
  return id;
}

interface Written {
  tenantId: string;
  plane: ReturnType<typeof createWriter>;
  key: Parameters<typeof encryptUnder>[0];
}

async function writeDecisions(superuser: pg.Pool, { tenantId, plane, key }: Written) {
  plane.boot();
  for (let done = 0; done < DECISIONS; done += BATCH) {
    const size = Math.min(BATCH, DECISIONS - done);
    const rows = Array.from({ length: size }, (_, n) => aKeptDecision(done + n, tenantId, key));
    const records = rows.map(({ decision }) => plane.append(decision));
    plane.records.splice(0);
    await superuser.query(
      `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
         agent_id, policy_result, event_time, hash, prev_hash, bytes)
       SELECT $1, now(), n + $2, $3, 1, s, 'decision', i, $4, 'allow', now(), h, p, b
       FROM unnest($5::bigint[], $6::uuid[], $7::text[], $8::text[], $9::bytea[])
         WITH ORDINALITY AS r(s, i, h, p, b, n)`,
      [
        ...[tenantId, done, plane.deploymentId, rows[0]?.decision.agent_id],
        ...[records.map(({ seq }) => seq), rows.map(({ decision }) => decision.id)],
        ...[records.map(({ hash }) => hash), records.map(({ prevHash }) => prevHash)],
        records.map(({ bytes }) => bytes),
      ],
    );
    await superuser.query(
      `INSERT INTO event_payloads (tenant_id, event_id, part, deployment_id, is_encrypted,
         data_key_id, ciphertext)
       SELECT $1, i, 'input', $2, false, $3, c FROM unnest($4::uuid[], $5::bytea[]) AS r(i, c)`,
      [
        ...[tenantId, plane.deploymentId, key.id],
        ...[rows.map(({ decision }) => decision.id), rows.map(({ ciphertext }) => ciphertext)],
      ],
    );
  }
  await superuser.query(
    `INSERT INTO tenant_positions (tenant_id, position) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET position = $2`,
    [tenantId, DECISIONS],
  );
  await superuser.query('ANALYZE');
}

/** One of every four calls writes. */
function aKeptDecision(n: number, tenantId: string, key: Written['key']) {
  const action = n % 4 === 0 ? 'write' : 'read';
  const text = JSON.stringify({
    agent: {
      ...{ id: uuidv7(), name: 'agent', agent_type: 'assistant', owner: 'team', roles: ['worker'] },
      ...{ permissions: ['files:read', 'files:write'], risk_tier: 'low', risk_score: 3.5 },
    },
    request: {
      ...{ tool_name: `${action}_file`, action, resource: `/srv/data/${n}.txt` },
      parameters: { path: `/srv/data/${n}.txt`, text: 'x'.repeat(300) },
      ...{ mcp_server: 'files', method: 'tools/call' },
    },
    requester: { id: 'alice', verified: false },
    ...{ workflow: null, delegation: null },
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      ...{ time: new Date().toISOString(), data_plane: uuidv7(), region: null },
      ...{ model: null, agent_role: null },
    },
  });
  const salt = randomBytes(16);
  const decision = aDecision({ action, payload_digest: payloadDigest(salt, text) });
  const plaintext = Buffer.from(
    JSON.stringify({ salt: salt.toString('base64url'), text, mode: 'full' }),
  );
  const context = payloadContext(tenantId, decision.id, 'input');
  return { decision, ciphertext: Buffer.from(encryptUnder(key, plaintext, context)) };
}
