/**
 * A data plane that lies: it holds a registered key and a good token, and what it says is signed and
 * chained as it should be. By the public interface alone.
 */
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import {
  DATA_PLANE_ALERTS,
  type DataPlaneAction,
  findForbidden,
} from '@governance/shared/ledger/data-plane-records';
import { LedgerRecord, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  aDecision,
  aPolicyAlert,
  createWriter,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { MAX_OPEN_ALERTS } from '../alerts/alert-projection.ts';

const { call, aTenantAdmin } = await testControlPlane();

interface Plane {
  writer: TestDataPlane;
  /** Ships what it has not shipped yet. */
  ship(): Promise<number>;
}

let admin: string;
let tenantId: string;
let agentId: string;
let root: string;
beforeEach(async () => {
  const made = await aTenantAdmin();
  admin = made.token;
  tenantId = made.scope.tenantId;
  const body = { name: 'reader', agent_type: 'assistant', owner: 'tests', description: '' };
  agentId = (await call('/api/v1/agents', { token: admin, body })).json().id;
  const token = await call('/api/v1/admin/data-plane-tokens', {
    token: admin,
    body: { label: 'x' },
  });
  root = token.json().token;
});

async function aPlane(): Promise<Plane> {
  const keys = aRegistration();
  const answer = await call('/api/v1/data-planes/register', {
    token: root,
    body: keys.provenWith(root),
  });
  const reply = RegistrationReply.parse(answer.json());
  const writer = createWriter(tenantId, reply.deployment_id, keys.signingKey);
  writer.boot();
  let shipped = 0;
  const ship = async () => {
    const answer = await call(`/api/v1/data-planes/${reply.deployment_id}/audit-batches`, {
      token: reply.token.token,
      body: encodeBatch(writer.batch(shipped)),
      headers: { 'content-type': NDJSON },
    });
    shipped = writer.records.length;
    return answer.statusCode;
  };
  return { writer, ship };
}

const anAction = (
  actor: { id: string; role?: 'admin' | 'data_plane'; break_glass?: boolean },
  action: string,
): UnchainedRecord => ({
  type: 'admin_action',
  id: uuidv7(),
  timestamp: new Date().toISOString(),
  bundle_revision: null,
  actor: { username: 'root', role: 'data_plane', break_glass: false, ...actor },
  action,
  target: 'tenant',
  details: {},
});
interface Alert {
  alert_type: string;
  severity: string;
  agent_id: string | null;
  created_at: string;
  details: Record<string, unknown>;
}
const alertsOf = async (type?: string): Promise<Alert[]> => {
  const { alerts } = (await call('/api/v1/monitor/alerts?limit=1000', { token: admin })).json();
  return type ? alerts.filter((alert: Alert) => alert.alert_type === type) : alerts;
};
interface Event {
  id: string;
  stream: string;
  violations: string[];
}
const eventsOf = async ({ writer }: Plane): Promise<Event[]> =>
  (await call('/api/v1/audit/events', { token: admin }))
    .json()
    .events.filter((event: Event) => event.stream === writer.deploymentId);
const verify = async () => (await call('/api/v1/audit/verify?fresh=true', { token: admin })).json();

describe('what a data plane may not write', () => {
  const OWN = 'local_kill_switch_engaged' satisfies DataPlaneAction;
  it.each([
    ['an administrator’s action', () => anAction({ id: 'x', role: 'admin' }, 'kill_switch_lifted')],
    [
      'an administrator’s under its own action’s name',
      () => anAction({ id: 'x', role: 'admin' }, OWN),
    ],
    [
      'an action that only administrators have',
      (own: string) => anAction({ id: own }, 'alert_resolved'),
    ],
    ['break-glass', (own: string) => anAction({ id: own, break_glass: true }, OWN)],
    ['another deployment’s action', () => anAction({ id: uuidv7() }, OWN)],
    ['an alert of the control plane’s own', () => aPolicyAlert({ alert_type: 'CHAIN_BREAK' })],
  ])('lies in quarantine (%s), in its place, and the stream goes on', async (_, make) => {
    const plane = await aPlane();
    const { writer } = plane;
    writer.append(make(writer.deploymentId));
    const after = aDecision({ agent_id: agentId });
    writer.append(after);
    expect(await plane.ship()).toBe(200);
    expect(await eventsOf(plane)).toMatchObject([{ id: after.id, violations: [] }]);
    expect(await alertsOf()).toMatchObject([
      {
        alert_type: 'DATA_PLANE_VIOLATION',
        severity: 'critical',
        details: { deployment_id: writer.deploymentId, violation: 'forbidden', first: { seq: 2 } },
      },
    ]);
    expect(await verify()).toMatchObject({ valid: true, records_quarantined: 1 });
  });

  it('is not what it writes by itself', async () => {
    const plane = await aPlane();
    const { writer } = plane;
    const own = anAction({ id: writer.deploymentId }, OWN);
    writer.append(own);
    // As the version before wrote it.
    const older = anAction({ id: 'local-operator' }, 'local_kill_switch_lifted');
    writer.append(older);
    expect(await plane.ship()).toBe(200);
    expect((await eventsOf(plane)).map(({ id }) => id)).toEqual([older.id, own.id]);
    expect(await alertsOf()).toEqual([]);
  });

  it('is of no type that nobody allowed', () => {
    const typesOf = LedgerRecord.options.map((version) =>
      version.options.map((schema) => schema.shape.type.value),
    );
    const first = ['epoch_start', 'decision', 'outcome', 'alert', 'admin_action'];
    const holds = ['hold_opened', 'hold_resolved', 'rate_limited', 'result_held'];
    const second = [...first, ...holds, 'answer_started'];
    expect(typesOf).toEqual([first, second]);
    expect(findForbidden({ type: 'approval' } as never)).toMatch(/of a type/);
    expect(DATA_PLANE_ALERTS).not.toContain('DATA_PLANE_FORKED');
  });
});

describe('an agent that the tenant never had', () => {
  it('is marked where its calls are listed, and an alert says so', async () => {
    const plane = await aPlane();
    const invented = aDecision({ agent_id: uuidv7() });
    const known = aDecision({ agent_id: agentId });
    plane.writer.append(invented);
    plane.writer.append(known);
    plane.writer.append(aPolicyAlert({ agent_id: uuidv7() }));
    expect(await plane.ship()).toBe(200);
    expect(await eventsOf(plane)).toMatchObject([
      { id: known.id, violations: [] },
      { id: invented.id, violations: ['agent_unknown'] },
    ]);
    expect(await alertsOf('DATA_PLANE_VIOLATION')).toMatchObject([
      { severity: 'high', details: { violation: 'agent_unknown', records: 2, first: { seq: 2 } } },
    ]);
    expect(await alertsOf('POLICY_FAILED')).toMatchObject([{ agent_id: null }]);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('is not one that was deprovisioned, nor one of another tenant', async () => {
    const plane = await aPlane();
    const { token } = await aTenantAdmin();
    const body = { name: 'other', agent_type: 'assistant', owner: 'tests', description: '' };
    const foreign = (await call('/api/v1/agents', { token, body })).json().id;
    const url = `/api/v1/agents/${agentId}`;
    await call(url, { method: 'PATCH', token: admin, body: { status: 'deprovisioned' } });
    plane.writer.append(aDecision({ agent_id: agentId }));
    expect(await plane.ship()).toBe(200);
    expect(await alertsOf()).toEqual([]);
    plane.writer.append(aDecision({ agent_id: foreign }));
    expect(await plane.ship()).toBe(200);
    expect(await eventsOf(plane)).toMatchObject([
      { violations: ['agent_unknown'] },
      { violations: [] },
    ]);
  });
});

describe('a time ahead of its receipt', () => {
  const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();

  it('is listed by its receipt, marked and reported; five minutes are tolerated', async () => {
    const plane = await aPlane();
    const [fine, future] = [ahead(4 * 60_000), ahead(3_650 * 86_400_000)];
    plane.writer.append(aDecision({ agent_id: agentId, timestamp: future }));
    plane.writer.append(aPolicyAlert({ timestamp: future }));
    await plane.ship();
    plane.writer.append(aDecision({ agent_id: agentId, timestamp: fine }));
    expect(await plane.ship()).toBe(200);
    expect(await eventsOf(plane)).toMatchObject([
      { timestamp: fine, violations: [] },
      { timestamp: future, violations: ['time_impossible'] },
    ]);
    const now = new Date(Date.now() + 60_000).toISOString();
    const { events } = (
      await call(`/api/v1/audit/events?to=${encodeURIComponent(now)}`, { token: admin })
    ).json();
    expect(events).toContainEqual(expect.objectContaining({ timestamp: future }));
    const [alert] = await alertsOf('POLICY_FAILED');
    expect(Date.parse(alert?.created_at ?? future)).toBeLessThanOrEqual(Date.now());
    expect(await alertsOf('DATA_PLANE_VIOLATION')).toMatchObject([
      { severity: 'medium', details: { violation: 'time_impossible', records: 2 } },
    ]);
    expect(await verify()).toMatchObject({ valid: true });
  });
});

describe('the alerts of a data plane that lies', () => {
  it('keep back no alert of another, under whatever key', async () => {
    const [liar, honest] = [await aPlane(), await aPlane()];
    const key = `disk-watermark:${honest.writer.deploymentId}:full`;
    liar.writer.append(aPolicyAlert({ severity: 'info', dedupe_key: key }));
    await liar.ship();
    honest.writer.append(
      aPolicyAlert({ alert_type: 'DISK_WATERMARK', severity: 'critical', dedupe_key: key }),
    );
    await honest.ship();
    expect(await alertsOf('DISK_WATERMARK')).toMatchObject([{ severity: 'critical' }]);
  });

  it('are bounded, each type and severity by itself, and what another raises is raised', async () => {
    const [liar, honest] = [await aPlane(), await aPlane()];
    for (let i = 0; i < MAX_OPEN_ALERTS + 20; i++)
      liar.writer.append(aPolicyAlert({ severity: 'low' }));
    liar.writer.append(aPolicyAlert({ severity: 'critical' }));
    expect(await liar.ship()).toBe(200);
    for (let i = 0; i < 5; i++) liar.writer.append(aPolicyAlert({ severity: 'low' }));
    liar.writer.append(aPolicyAlert({ alert_type: 'DISK_WATERMARK', severity: 'low' }));
    expect(await liar.ship()).toBe(200);
    honest.writer.append(aPolicyAlert({ severity: 'low' }));
    expect(await honest.ship()).toBe(200);
    const alerts = await alertsOf('POLICY_FAILED');
    expect(alerts.filter(({ severity }) => severity === 'low')).toHaveLength(MAX_OPEN_ALERTS + 1);
    expect(alerts.filter(({ severity }) => severity === 'critical')).toHaveLength(1);
    expect(await alertsOf('DISK_WATERMARK')).toHaveLength(1);
    expect(await alertsOf('DATA_PLANE_ALERT_FLOOD')).toMatchObject([
      { details: { deployment_id: liar.writer.deploymentId, records: 20 } },
    ]);
  });
});
