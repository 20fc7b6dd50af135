/**
 * The service's keys under a clock that was ahead or is set back: what is changed reaches data planes,
 * evidence is VERIFIED, and where it is not, or nothing can be signed, /ready says so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_ACTOR } from '@governance/control-plane/platform/database/tenant-scope';
import { acceptClock } from '@governance/control-plane/platform/keys/standing-clock';
import { listeningUrl } from '@governance/shared/http/http-server';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aConnectedCore } from './support/a-connected-core.ts';
import { anOutcome } from './support/a-data-plane.ts';
import { aShippingPlane } from './support/a-shipping-plane.ts';
import { createEvidenceExports } from './support/evidence-exports.ts';
import { createEvidenceReader } from './support/evidence-reader.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 300_000 });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const cp = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const { app, call, aTenantAdmin, superAdminToken, controlPlane, test } = cp;
const reader = createEvidenceReader();
const dataDir = mkdtempSync(join(tmpdir(), 'clock-and-keys-'));
const ends: (() => Promise<unknown>)[] = [];

/** Not behind the time that the service keeps from the test before. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: controlPlane.keyNow() }));
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(dataDir, { recursive: true });
});

const shift = (ms: number) => void vi.setSystemTime(Date.now() + ms);

/** The time has passed, and all processes have shown it to each other. */
async function passes(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 4 * MINUTE) {
    shift(Math.min(left, 4 * MINUTE));
    controlPlane.tokenNow();
  }
  await controlPlane.standingClock?.share();
}

async function rotate(purpose: string, revoke: boolean): Promise<void> {
  const body = revoke ? { revoke, reason: 'stolen' } : {};
  const token = await superAdminToken();
  const answer = await call(`/api/v1/admin/keys/${purpose}/rotate`, { token, body });
  expect(answer.statusCode, answer.body).toBe(200);
}

const warnings = async () => (await call('/ready')).json().warnings ?? {};

it('changes reach data planes where the clock is set back to before a revocation', async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
  for (const purpose of ['feed', 'bundle']) await rotate(purpose, false);
  await passes(2 * HOUR);
  const { scope, token } = await aTenantAdmin();
  const change = async (url: string, body: object, method: 'POST' | 'PATCH' = 'POST') => {
    const answer = await call(url, { token, body, method });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    return answer.json();
  };
  const { token: root } = await change('/api/v1/admin/data-plane-tokens', { label: 'x' });
  const about = { name: 'a', agent_type: 'assistant', owner: 'a@example.com' };
  const { id } = await change('/api/v1/agents', about);
  const right = Date.now() - performance.now();
  const now = () => Math.floor(right + performance.now());
  const { core, stop } = await aConnectedCore({ ...{ dataDir, cpUrl, token: root, now } });
  ends.push(stop);
  const enforced = () => [
    core.replica.findAgent(scope.tenantId, id)?.status,
    core.replica.findKillSwitch(scope.tenantId)?.engaged ?? false,
  ];
  await expect.poll(enforced).toEqual(['active', false]);
  for (const purpose of ['feed', 'bundle']) await rotate(purpose, true);
  shift(-HOUR);
  controlPlane.serviceKeys.forget();
  await change(`/api/v1/agents/${id}`, { status: 'suspended' }, 'PATCH');
  await change('/api/v1/admin/killswitch', {});
  await expect.poll(enforced, { timeout: 60_000 }).toEqual(['suspended', true]);
  expect(await warnings()).not.toHaveProperty('key_times');
  // Keys that are stolen now are not kept either.
  for (const purpose of ['feed', 'bundle']) await rotate(purpose, true);
});

describe('evidence', () => {
  /** Of a tenant of its own, with the anchor of now. */
  async function verdict() {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = { name: 'a', agent_type: 't', owner: 'o', description: '' };
    const agent_id = (await call('/api/v1/agents', { token, body })).json().id;
    const plane = await aShippingPlane(cp, admin);
    const { id } = plane.decide({ agent_id });
    plane.writer.append(anOutcome(id));
    await plane.ship();
    const anchor = await cpExports().anchorOf(token);
    const [volume = expect.unreachable()] = await cpExports().exported(token, {});
    const { verdict: found, fails } = await reader.read(volume, anchor);
    return [found, fails];
  }
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const cpExports = () => createEvidenceExports(cp, { from: at(-HOUR), to: at(HOUR) });

  it.each([
    'checkpoint',
    'evidence',
  ])('is verified where its %s key was revoked in a glitch of the clock', async (purpose) => {
    shift(2 * DAY);
    await rotate(purpose, true);
    shift(-2 * DAY);
    expect(await verdict()).toEqual(['VERIFIED', []]);
  });

  it('is verified where the clock is set back to before the revocation', async () => {
    await passes(2 * HOUR);
    for (const purpose of ['checkpoint', 'evidence']) await rotate(purpose, true);
    shift(-HOUR);
    expect(await verdict()).toEqual(['VERIFIED', []]);
  });

  /** The clock is two days ahead for long, and is put right and accepted. */
  async function ahead(meanwhile: () => Promise<void>): Promise<void> {
    const ahead = `UPDATE service_clock SET newest = newest + interval '2 days'`;
    await controlPlane.standingClock?.share();
    await test.superuser.query(ahead);
    await controlPlane.standingClock?.share();
    shift(2 * DAY);
    await meanwhile();
    shift(-2 * DAY);
    await controlPlane.db.inPlatform(SYSTEM_ACTOR, (tx) => acceptClock(tx, new Date()));
    await controlPlane.standingClock?.share();
  }

  it('is verified where the batch key began while the clock was ahead: it is not to be rotated', async () => {
    await ahead(() => rotate('batch', true));
    expect(await verdict()).toEqual(['VERIFIED', []]);
    expect(await warnings()).not.toHaveProperty('key_times');
  });

  it('is not once a clock that was ahead for long is accepted, until the key is rotated', async () => {
    await ahead(() => rotate('evidence', true));
    expect(await warnings()).toMatchObject({
      key_times: expect.stringMatching(/^of evidence: .* rotate it$/),
    });
    expect(await verdict()).toEqual(['NOT_VERIFIED', ['keys.validity']]);
    await rotate('evidence', false);
    await passes(MINUTE);
    expect(await verdict()).toEqual(['VERIFIED', []]);
    expect(await warnings()).not.toHaveProperty('key_times');
  });
});

it('/ready and /health say that no statement and no bundle can be signed', async () => {
  const set = (revoked: string) =>
    test.superuser.query(
      `UPDATE service_keys SET revoked_at = ${revoked}
       WHERE retired_at IS NULL AND purpose IN ('feed-signing', 'evidence-signing')`,
    );
  await set('now()');
  controlPlane.serviceKeys.forget();
  const health = async () => (await call('/health')).json().status;
  const signing = 'nothing can be signed for: feed, evidence';
  await expect.poll(warnings).toMatchObject({ signing });
  await expect.poll(health).toBe('degraded');
  await set('NULL');
  controlPlane.serviceKeys.forget();
  await expect.poll(health).toBe('ok');
});
