import { uuidv7 } from '@governance/shared/ids';
import {
  createIdentifierHash,
  type SealedIdentifierKey,
} from '@governance/shared/keys/identifier-hash';
import { beforeEach, expect, it, vi } from 'vitest';
import { createIdentifierKeys } from './identifier-keys.ts';

const tenantId = uuidv7();
const deploymentId = uuidv7();
const key = Buffer.alloc(32, 7);
const raiseAlert = vi.fn();
let sealed: string | undefined;
let opened: number;

const { hashOf } = createIdentifierKeys({
  findSealed: () => sealed,
  findDeploymentId: () => deploymentId,
  open: (jwe) => {
    opened += 1;
    return jwe;
  },
  raiseAlert,
});

beforeEach(() => {
  sealed = undefined;
  opened = 0;
  raiseAlert.mockClear();
});

const seal = (over: Partial<SealedIdentifierKey> = {}) =>
  JSON.stringify({
    purpose: 'identifier-key',
    tenant_id: tenantId,
    deployment_id: deploymentId,
    key: key.toString('base64url'),
    ...over,
  });

it.each([
  ['that is not there', undefined, 'no_key'],
  ['that does not open', 'not JSON', 'unusable_key'],
  ['of another tenant', seal({ tenant_id: uuidv7() }), 'unusable_key'],
  ['for another data plane', seal({ deployment_id: uuidv7() }), 'unusable_key'],
  ['that is too short', seal({ key: 'short' }), 'unusable_key'],
  ['for something else', seal().replace('identifier-key', 'payload'), 'unusable_key'],
])('a key %s hashes nothing, and that is reported', (_, jwe, reason) => {
  sealed = jwe;
  expect(hashOf(tenantId)('anna')).toBe('[REDACTED]');
  expect(raiseAlert).toHaveBeenCalledWith(
    tenantId,
    expect.objectContaining({ alert_type: 'IDENTIFIERS_NOT_HASHED', details: { reason } }),
  );
});

it('a key is opened once, replaced by the next, and valid until the setting is off', () => {
  sealed = seal();
  const first = hashOf(tenantId)('anna');
  expect(first).toBe(createIdentifierHash(tenantId, key)('anna'));
  expect(hashOf(tenantId)('anna')).toBe(first);
  expect(opened).toBe(1);
  sealed = seal({ key: Buffer.alloc(32, 8).toString('base64url') });
  const second = hashOf(tenantId)('anna');
  expect(second).toMatch(/^hid1:[\w-]{6}:[\w-]{22}$/);
  expect(second).not.toBe(first);
  sealed = undefined;
  expect(hashOf(tenantId)('anna')).toBe(second);
  expect(raiseAlert).not.toHaveBeenCalled();
});
