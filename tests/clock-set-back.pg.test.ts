/** A control plane whose machine's clock is set back lets nobody in again whose time was over. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aRegistration } from './support/a-registration.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane } = await testControlPlane();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** By what the machine's clock is off from the time that has passed. */
const shift = (ms: number) => vi.setSystemTime(Date.now() + ms);
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The time has passed, and all processes have shown it to each other. */
async function passes(ms: number): Promise<void> {
  const step = 4 * MINUTE;
  for (let left = ms; left > 0; left -= step) {
    shift(Math.min(left, step));
    controlPlane.tokenNow();
  }
  await controlPlane.standingClock?.share();
}

describe('after its clock was set back, a control plane refuses', () => {
  it('the tokens of administrators whose eight hours were over, and not the new ones', async () => {
    const { token, scope } = await aTenantAdmin();
    const list = async (bearer: string) =>
      (await call('/api/v1/agents', { token: bearer })).statusCode;
    expect(await list(token)).toBe(200);
    await passes(9 * HOUR);
    expect(await list(token)).toBe(401);
    shift(-9 * HOUR);
    expect(await list(token)).toBe(401);
    const { id, username } = scope.actor;
    const account = {
      role: 'admin',
      id,
      username,
      tenantId: scope.tenantId,
      version: '1',
    } as const;
    expect(await list(await controlPlane.adminTokens.issue(account))).toBe(200);
    expect((await call('/ready')).json().warnings.clock).toContain('behind');
    expect((await call('/metrics')).body).toMatch(/^governance_clock_behind_seconds 324\d\d/m);
  });

  it('enrollment tokens and those of data planes', async () => {
    const { token } = await aTenantAdmin();
    const post = (url: string, body: object) => call(url, { token, body });
    const role = (await post('/api/v1/roles', { name: 'r', permissions: ['a:read'] })).json().id;
    const enrollment = await post('/api/v1/admin/enrollment-tokens', {
      ...{ label: 'x', max_uses: 9, expires_in_hours: 1, role_ids: [role] },
    });
    expect(enrollment.statusCode, enrollment.body).toBeLessThan(300);
    const root = await post('/api/v1/admin/data-plane-tokens', { label: 'x', expires_days: 1 });
    const keys = aRegistration();
    const register = () =>
      call('/api/v1/data-planes/register', {
        token: root.json().token,
        body: keys.provenWith(root.json().token),
      });
    const enroll = () =>
      call('/api/v1/enroll', {
        body: {
          enrollment_token: enrollment.json().token,
          name: `agent-${Math.random()}`,
          agent_type: 'assistant',
          owner: 'a@example.com',
        },
      });
    const first = [await register(), await enroll()];
    for (const answer of first) expect(answer.statusCode, answer.body).toBeLessThan(300);
    await passes(2 * DAY);
    shift(-2 * DAY);
    expect([(await register()).statusCode, (await enroll()).statusCode]).toEqual([401, 401]);
  });
});
