/**
 * Evidence of what real clients did, over the public API: with what their calls held, and with the
 * delegations by which one agent acted for another. Both verifiers take it, and refuse what somebody
 * changed, be it the issuer with his own key.
 */
import { createServiceKeys } from '@governance/control-plane/platform/keys/keys';
import { createMasterKey } from '@governance/control-plane/platform/keys/master-key';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { CauseLine, PayloadLine } from '@governance/shared/evidence/evidence-package';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { Secret } from '@governance/shared/settings';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeLines, unpack } from '../verifier/testing/resigned-copy.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  issueDataPlaneToken,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { createEvidenceReader, exportEvidence } from './support/evidence-reader.ts';
import { connectSdk } from './support/sdk-client.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

vi.setConfig({ testTimeout: 90_000 });

const MASTER_KEY = Buffer.alloc(32, 7);
const database = await testDatabase();
const reader = createEvidenceReader();
const around = {
  from: new Date(Date.now() - 60_000).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
};
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let dataPlane: ServiceProcess;
let admin: AdminApi;
let anchor: TrustAnchor;
let agents: Record<'planner' | 'reader' | 'helper', RegisteredAgent>;
/** The issuer's own key, by which he can sign a manifest again. */
let issuer: Awaited<ReturnType<ReturnType<typeof createServiceKeys>['evidenceKey']>>;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      SERVICE_MASTER_KEY: MASTER_KEY.toString('base64'),
      SERVICE_CHECKPOINT_SECONDS: '1',
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  anchor = TrustAnchor.parse(await admin.get('/api/v1/evidence/trust-anchor'));
  const keys = createServiceKeys({
    db: database.db,
    masterKey: createMasterKey(new Secret(MASTER_KEY)),
  });
  issuer = await keys.evidenceKey('evidence');
  await admin.patch('/api/v1/admin/data-protection', { payload_mode: 'full' });
  await registerServer(admin, upstream.url);
  const roleId = await registerRole(admin, 'reader', 'up:read');
  agents = {
    planner: await registerAgent(admin, 'planner', roleId),
    reader: await registerAgent(admin, 'reader', roleId),
    helper: await registerAgent(admin, 'helper', roleId),
  };
  dataPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: controlPlane.url,
      SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
    },
  });
}, 120_000);

afterAll(async () => {
  await dataPlane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

/** One call by a real client; it is in the log, with its outcome, when this answers. */
async function act(agent: RegisteredAgent, note: string, headers: Record<string, string> = {}) {
  const authorization = basicOf(agent);
  const client = await connectSdk(`${dataPlane.url}/mcp/v1/up`, { ...headers, authorization });
  const answer = await client.callTool({ name: 'read_thing', arguments: { note } });
  expect(answer.isError).not.toBe(true);
  await client.close();
  await vi.waitFor(
    async () => {
      const { events } = await admin.get<{ events: { outcome: string | null }[] }>(
        `/api/v1/audit/events?agent_id=${agent.id}&policy_result=allow&tool_name=read_thing`,
      );
      expect(events[0]?.outcome).toBe('forwarded');
    },
    { timeout: 20_000, interval: 100 },
  );
}

const linesOf = async (packed: Buffer, member: string): Promise<string[]> =>
  String((await unpack(packed)).get(member) ?? '')
    .split('\n')
    .slice(0, -1);

describe('a package with payloads', () => {
  let packed: Buffer;

  beforeAll(async () => {
    await act(agents.planner, 'a note of the planner');
    await act(agents.reader, 'a note of the reader');
    await vi.waitFor(
      async () => {
        const status = await admin.get('/api/v1/audit/retention-status');
        expect(status).toMatchObject({ events_with_payload: 2 });
        packed = await exportEvidence(controlPlane.url, admin, {
          ...{ ...around, include_payloads: true },
        });
        expect(await linesOf(packed, 'payloads.ndjson')).toHaveLength(4);
      },
      { timeout: 30_000, interval: 500 },
    );
  }, 60_000);

  it('shows what calls asked for and got, and each part is the one that was recorded', async () => {
    const read = await reader.read(packed, anchor);
    expect(read).toMatchObject({ verdict: 'VERIFIED', fails: [] });
    expect(read.passes).toContain('payload.digests');
    const lines = await linesOf(packed, 'payloads.ndjson');
    const parts = lines.map((line) => PayloadLine.parse(JSON.parse(line)));
    expect(parts.map(({ part }) => part).sort()).toEqual(['input', 'input', 'result', 'result']);
    expect(lines.join()).toContain('a note of the reader');
  });

  it('is refused when a payload says something else, also where the issuer signs that', async () => {
    const change = (lines: string[]) =>
      lines.map((line) => line.replace('a note of the reader', 'a word of the reader'));
    const byHolder = await changeLines(packed, 'payloads', change);
    expect(await reader.read(byHolder, anchor)).toMatchObject({
      verdict: 'NOT_VERIFIED',
      fails: ['manifest.signature', 'payload.digests'],
    });
    const byIssuer = await changeLines(packed, 'payloads', change, issuer);
    expect(await reader.read(byIssuer, anchor)).toMatchObject({
      verdict: 'NOT_VERIFIED',
      fails: ['payload.digests'],
    });
  });

  it('is refused when the payload of one call is shown as that of another', async () => {
    const swapped = await changeLines(
      packed,
      'payloads',
      (lines) => {
        const parts = lines.map((line) => PayloadLine.parse(JSON.parse(line)));
        const inputs = parts.filter(({ part }) => part === 'input');
        const [one, two] = inputs.map(({ event_id }) => event_id);
        return lines.map((line, n) =>
          parts[n]?.part === 'input'
            ? line.replace(/"event_id":"[^"]+"/, (id) =>
                id.replace(/"([0-9a-f-]{36})"/, (_, was) => `"${was === one ? two : one}"`),
              )
            : line,
        );
      },
      issuer,
    );
    expect(await reader.read(swapped, anchor)).toMatchObject({
      verdict: 'NOT_VERIFIED',
      fails: ['payload.digests'],
    });
  });

  it('is refused with a payload of a call that kept none, and with a payload twice', async () => {
    const stranger = await changeLines(
      packed,
      'payloads',
      ([first = '', ...others]) => [
        first.replace(/"event_id":"[^"]+"/, `"event_id":"${agents.helper.id}"`),
        ...others,
      ],
      issuer,
    );
    const twice = await changeLines(
      packed,
      'payloads',
      ([first = '', ...others]) => [first, first, ...others],
      issuer,
    );
    for (const forged of [stranger, twice]) {
      const read = await reader.read(forged, anchor);
      expect(read).toMatchObject({ verdict: 'NOT_VERIFIED', fails: ['payload.digests'] });
    }
  });
});

describe('a package of an agent that acted by a chain of delegations', () => {
  let packed: Buffer;
  let chain: string[];

  beforeAll(async () => {
    const { planner, reader: second, helper } = agents;
    const workflow = await admin.post<{ id: string }>('/api/v1/workflows', {
      ...{ name: 'journey', owner_agent_id: planner.id, max_depth: 2 },
    });
    const session = await admin.post<{ id: string; wf_token: string }>(
      `/api/v1/workflows/${workflow.id}/sessions`,
    );
    const delegate = (from: RegisteredAgent, to: RegisteredAgent) =>
      admin.post<{ id: string; d_token: string }>('/api/v1/delegations', {
        ...{ workflow_session_id: session.id, scope: { tools: ['up/read_thing'] } },
        ...{ delegator_agent_id: from.id, delegatee_agent_id: to.id },
      });
    const first = await delegate(planner, second);
    const last = await delegate(second, helper);
    chain = [first.id, last.id];
    const headers = { 'x-workflow-session': session.wf_token, 'x-delegation-token': last.d_token };
    await vi.waitFor(() => act(helper, 'for the planner', headers), {
      timeout: 30_000,
      interval: 500,
    });
    packed = await exportEvidence(controlPlane.url, admin, {
      ...{ ...around, agent_ids: [helper.id] },
    });
  }, 90_000);

  const issuedIn = (line: string) => {
    const cause = CauseLine.parse(JSON.parse(line));
    const record = JSON.parse(cause.record) as { action?: string; target?: string };
    return record.action === 'delegation_issued' ? record.target : undefined;
  };

  it('has each link of the chain with its proof, and is verified', async () => {
    const read = await reader.read(packed, anchor);
    expect(read).toMatchObject({ verdict: 'VERIFIED', fails: [] });
    expect(read.passes).toContain('delegation.binding');
    const links = (await linesOf(packed, 'causes.ndjson')).map(issuedIn).filter(Boolean);
    expect(links.sort()).toEqual(chain.map((id) => `delegation/${id}`).sort());
  });

  it.each([0, 1])('is refused without link %i, also where the issuer signs that', async (n) => {
    const without = (lines: string[]) =>
      lines.filter((line) => issuedIn(line) !== `delegation/${chain[n]}`);
    const byIssuer = await changeLines(packed, 'causes', without, issuer);
    expect(await reader.read(byIssuer, anchor)).toMatchObject({
      verdict: 'NOT_VERIFIED',
      fails: ['delegation.binding'],
      said: 'a delegation is not shown',
    });
    const byHolder = await changeLines(packed, 'causes', without);
    expect((await reader.read(byHolder, anchor)).fails).toEqual([
      'manifest.signature',
      'delegation.binding',
    ]);
  });

  it('is refused when a link was to somebody else, though the issuer signs the manifest', async () => {
    const change = (lines: string[]) =>
      lines.map((line) =>
        issuedIn(line) === `delegation/${chain[1]}`
          ? line.replaceAll(agents.helper.id, agents.planner.id)
          : line,
      );
    const { verdict, fails } = await reader.read(
      await changeLines(packed, 'causes', change, issuer),
      anchor,
    );
    expect(verdict).toBe('NOT_VERIFIED');
    expect(fails).toEqual(expect.arrayContaining(['batch.root', 'delegation.binding']));
  });
});
