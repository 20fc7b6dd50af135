import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let time = Date.parse('2026-03-01T12:00:00.000Z');
const { call, aTenantAdmin, controlPlane, superAdminToken } = await testControlPlane({
  now: () => new Date(time),
});

it('a revocation ends every token of its class, also those that earlier keys signed', async () => {
  const operator = await superAdminToken();
  const { token: early, scope } = await aTenantAdmin();
  const rotate = async (purpose: string, body: object = {}) => {
    const url = `/api/v1/admin/keys/${purpose}/rotate`;
    const answer = await call(url, { token: operator, body });
    expect(answer.statusCode, answer.body).toBe(200);
  };
  const me = async (token: string) => (await call('/api/v1/auth/me', { token })).statusCode;
  const PURPOSES = ['feed', 'workflow-token', 'delegation-token', 'token'];
  for (const purpose of PURPOSES) await rotate(purpose);
  time += 31_000;
  expect(await me(early)).toBe(200);

  const revocation = { revoke: true, reason: 'the key before may have leaked' };
  for (const purpose of PURPOSES) await rotate(purpose, revocation);
  expect([await me(early), await me(operator)]).toEqual([401, 401]);
  const { id, username } = scope.actor;
  const { tenantId } = scope;
  const account = { role: 'admin', id, username, tenantId, version: '1' } as const;
  expect(await me(await controlPlane.adminTokens.issue(account))).toBe(200);

  const { keys } = (await call('/api/v1/admin/keys', { token: await superAdminToken() })).json();
  const statesOf = (purpose: string) =>
    keys.flatMap((key: { purpose: string; state: string }) =>
      key.purpose === purpose ? [key.state] : [],
    );
  for (const purpose of ['token', 'workflow-token', 'delegation-token']) {
    expect(statesOf(purpose)).toEqual(['revoked', 'revoked', 'signing']);
  }
  // What an earlier key of another purpose signed stays good.
  expect(statesOf('feed')).toEqual(['accepted', 'revoked', 'signing']);
  expect((await call('/.well-known/jwks.json')).json().keys).toHaveLength(1);
});
