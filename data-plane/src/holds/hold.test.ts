import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { type Hold, readHold, storeHold } from './hold.ts';

const hold: Hold = {
  id: uuidv7(),
  tenantId: uuidv7(),
  agentId: uuidv7(),
  binding: 'b',
  asked: new Set(['x', 'y']),
  proof: { credentialId: null, version: 1 },
  timeoutAt: 1_700_000_000_000,
};

it('reads back what it stores', () => {
  expect(readHold(hold.tenantId, storeHold(hold).value ?? '')).toEqual(hold);
});

it('reads a row of an earlier version, whose reasons and credential are unknown', () => {
  const { id, tenantId, agentId, binding, timeoutAt } = hold;
  const row = { id, agent_id: agentId, binding, policy_ids: ['p'], timeout_at: timeoutAt };
  expect(readHold(tenantId, JSON.stringify(row))).toEqual({
    ...hold,
    asked: new Set(),
    proof: null,
  });
});

it('reads no malformed row', () => {
  expect(readHold(hold.tenantId, '{"id":1}')).toBeUndefined();
});
