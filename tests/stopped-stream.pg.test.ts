/**
 * A stream that has stopped is told by the heartbeat: the real data plane against the real ingest,
 * joined as standalone joins them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDataPlaneCore,
  type DataPlaneCore,
} from '@governance/data-plane/core/data-plane-core';
import type { ControlPlaneLink, Heartbeat } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aDecision } from './support/a-data-plane.ts';
import { aRegistration } from './support/a-registration.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane } = await testControlPlane();

let token: string;
let scope: Awaited<ReturnType<typeof aTenantAdmin>>['scope'];
beforeEach(async () => {
  ({ token, scope } = await aTenantAdmin());
});

interface Alert {
  alert_type: string;
  status: string;
  details: Record<string, unknown>;
}
const stops = async (): Promise<Alert[]> => {
  const { alerts } = (await call('/api/v1/monitor/alerts', { token })).json();
  return alerts.filter((alert: Alert) => alert.alert_type === 'STREAM_STOPPED');
};
const listed = async () =>
  (await call('/api/v1/data-planes', { token })).json().data_planes[0].stream;

describe('a batch that is refused again and again', () => {
  let core: DataPlaneCore;
  let dataDir: string;
  afterEach(async () => {
    await core.stop(100);
    rmSync(dataDir, { recursive: true });
  });

  it('stops the stream, which the heartbeat reports, and the alert ends when it runs again', async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stopped-stream-'));
    core = await createDataPlaneCore({
      dataDir,
      version: '1.0.0',
      log: pino({ level: 'silent' }),
      onFatal: (error) => {
        throw error;
      },
      readUsedShare: async () => 0,
      shipDelayMs: 5,
      backoffLimits: { first: 5, longest: 10 },
    });
    const request = core.identity.registrationRequest({
      region: null,
      version: '1',
      label: 'here',
    });
    const answer = await controlPlane.dataPlanes.registerLocalDataPlane(scope, request);
    const real = controlPlane.createLocalLink(answer.tenant_id, answer.deployment_id);
    // As where something between the two spoils what passes; the refusal is the ingest's own.
    let isSpoilt = true;
    const link: ControlPlaneLink = {
      ...real,
      shipBatch: (batch) => real.shipBatch(isSpoilt ? { ...batch, signature: 'none' } : batch),
    };
    await core.addTenant(answer, link);
    const { tenantId } = scope;
    await core.ledger.append(tenantId, aDecision());
    const soon = { timeout: 20_000, interval: 50 };
    await vi.waitFor(async () => expect(await stops()).toHaveLength(1), soon);
    const backlog = core.ledger.backlog(tenantId);
    expect(await stops()).toMatchObject([
      {
        status: 'open',
        details: {
          deployment_id: answer.deployment_id,
          label: 'here',
          state: 'refused',
          stopped_at: { epoch: 1, seq: 1 },
          last_error: { code: 'VALIDATION_FAILED', message: expect.stringContaining('signature') },
        },
      },
    ]);
    expect(await listed()).toMatchObject({ state: 'refused', is_stopped: true, backlog });
    expect(core.status().tenants[0]?.stream).toMatchObject({ state: 'refused', is_stopped: true });
    // Nothing about it went into the stream that has stopped.
    const waiting = await core.ledger.nextBatch(tenantId, 100);
    const types = waiting?.records.map((bytes) => JSON.parse(Buffer.from(bytes).toString()).type);
    expect(types).not.toContain('alert');

    isSpoilt = false;
    core.kick(tenantId);
    await vi.waitFor(
      async () => expect(await stops()).toMatchObject([{ status: 'resolved' }]),
      soon,
    );
    expect(await listed()).toMatchObject({ state: 'idle', is_stopped: false, backlog: 0 });
  }, 60_000);
});

describe('what heartbeats say of a stream', () => {
  const stopped = {
    state: 'forked',
    is_stopped: true,
    backlog: 7,
    last_error: { code: 'BATCH_CONFLICT', message: 'no', at: '2026-01-02T03:04:05.678Z' },
    stopped_at: { epoch: 2, seq: 9 },
  };
  const runs = { ...stopped, state: 'idle', is_stopped: false, last_error: null, stopped_at: null };

  async function aPlane() {
    const { request } = aRegistration();
    const answer = await controlPlane.dataPlanes.registerLocalDataPlane(scope, request);
    const link = controlPlane.createLocalLink(answer.tenant_id, answer.deployment_id);
    return (stream?: Heartbeat['stream']) =>
      link.heartbeat({
        deployment_id: answer.deployment_id,
        active_agent_count: 0,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version: 'none',
        uptime_seconds: 1,
        stream,
      });
  }

  it('raises one alert a stop, however often it is said, and the next one for the next', async () => {
    const beat = await aPlane();
    await beat(runs);
    expect(await stops()).toEqual([]);
    await Promise.all([beat(stopped), beat(stopped), beat(stopped)]);
    // One that says nothing of it, as the version before, changes nothing.
    await beat();
    expect(await stops()).toMatchObject([{ status: 'open', details: { state: 'forked' } }]);
    const [first] = await stops();
    const id = (first as unknown as { id: string }).id;
    await call(`/api/v1/monitor/alerts/${id}`, {
      method: 'PATCH',
      token,
      body: { status: 'resolved' },
    });
    // Who resolved it while it lasts is not told again.
    await beat(stopped);
    expect(await stops()).toMatchObject([{ status: 'resolved' }]);
    await beat(runs);
    await beat(stopped);
    expect((await stops()).map(({ status }) => status).sort()).toEqual(['open', 'resolved']);
  });

  it('keeps no alert of one data plane from another', async () => {
    const [one, other] = [await aPlane(), await aPlane()];
    await one(stopped);
    await other(stopped);
    await one(runs);
    expect((await stops()).map(({ status }) => status).sort()).toEqual(['open', 'resolved']);
  });

  it('is left out where it cannot be read, and the heartbeat is received', async () => {
    const body = { label: 'x', region: '', expires_days: 1 };
    const root = (await call('/api/v1/admin/data-plane-tokens', { token, body })).json().token;
    const answer = await call('/api/v1/data-planes/register', {
      token: root,
      body: aRegistration().provenWith(root),
    });
    const { deployment_id: id, token: own } = answer.json();
    const beat = await call(`/api/v1/data-planes/${id}/heartbeat`, {
      token: own.token,
      body: {
        deployment_id: id,
        active_agent_count: 0,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version: '1',
        uptime_seconds: 1,
        stream: { is_stopped: 'perhaps', since: uuidv7() },
      },
    });
    expect(beat.statusCode, beat.body).toBe(200);
    expect(await listed()).toBeNull();
    expect(await stops()).toEqual([]);
  });
});
