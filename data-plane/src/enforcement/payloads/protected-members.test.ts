import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { createIdentifierHash } from '@governance/shared/keys/identifier-hash';
import type { DataProtectionSettings } from '@governance/shared/settings/data-protection-settings';
import { DELEGATOR_LACKS } from '@governance/shared/tokens/delegation-scope';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import type { Caller } from '../call/calls.ts';
import { marksOf } from '../call/cover-texts.ts';
import { createLargeValues } from '../scan-thread/large-values.ts';
import { createScanThreads } from '../scan-thread/scan-threads.ts';
import { createProtectMembers } from './protected-members.ts';

const threads = createScanThreads();
afterAll(() => threads.close());
const large = createLargeValues(threads);
const identifiers = { hashOf: () => (identifier: string) => `#${identifier}#`, keyOf: () => null };
const { atOnce: protectMembers } = createProtectMembers(identifiers, large);
const caller = { tenantId: 't', agent: { id: 'a' } } as unknown as Caller;

function settingsOf(changed: Partial<DataProtectionSettings>): BundleSettings {
  return {
    tenant_id: uuidv7(),
    mcp_servers: {},
    data_protection: {
      payload_mode: 'metadata_only',
      redact_dlp_matches: false,
      redact_fields: [],
      hash_identifiers: false,
      sealing_key: null,
      ...changed,
    },
  };
}

const BUSY = { threads: 0, waiting: 1, waitMs: 1, runMs: 1_000 };
const KEY = Buffer.alloc(32, 1);
const CARD = '4111 1111 1111 1111';
const members = {
  target: `/cards/${CARD}`,
  policy_reason: `cards: ${CARD} is not for you`,
  requester_id: 'user-1',
};

it('nothing changes unless the tenant says so, or where no bundle is', () => {
  for (const settings of [settingsOf({}), null]) {
    expect(protectMembers({ settings, ask: { args: {} }, members })).toEqual({
      ...members,
      protected_fields: [],
    });
  }
});

it.each([
  { redact_dlp_matches: true },
  { payload_mode: 'redacted' as const },
])('DLP matches are taken out with %o, and it is said where', (changed) => {
  const kept = protectMembers({ settings: settingsOf(changed), ask: { args: {} }, members });
  expect(kept).toEqual({
    target: '/cards/[REDACTED:payment_card]',
    policy_reason: 'cards: [REDACTED:payment_card] is not for you',
    requester_id: 'user-1',
    protected_fields: ['target', 'policy_reason'],
  });
});

const LONG = 'lorem ipsum dolor sit amet '.repeat(1_000);

it('of large arguments another thread takes out what is taken out of small ones', async () => {
  const key = Buffer.alloc(32, 2);
  const hash = createIdentifierHash('t', key);
  const keyed = { hashOf: () => hash, keyOf: () => ({ tenantId: 't', key }) };
  const { atOnce, ofCall: later } = createProtectMembers(keyed, large);
  const members = {
    target: '/people/anna/hunter2!Xy9',
    policy_reason: `x: ${CARD} and hunter2!Xy9 of anna@corp.example`,
    requester_id: 'user-1',
  };
  const args = { password: 'hunter2!Xy9', path: 'people/anna' };
  for (const changed of [
    { redact_dlp_matches: true },
    { redact_fields: ['path'] },
    { redact_fields: ['target', 'path'], payload_mode: 'redacted', hash_identifiers: true },
  ] as const) {
    const settings = settingsOf({ ...changed, redact_fields: [...(changed.redact_fields ?? [])] });
    const small = later(caller, { settings, ask: { args }, members });
    expect(small).toEqual(atOnce({ settings, ask: { args }, members }));
    const long = later(caller, { settings, ask: { args: { ...args, LONG } }, members });
    expect(long).toBeInstanceOf(Promise);
    expect(await long).toEqual(small);
  }
});

it('where the threads are busy, what is found in the members alone is removed', async () => {
  const busy = createLargeValues(createScanThreads(BUSY));
  const { ofCall: later } = createProtectMembers(identifiers, busy);
  const quoting = { ...members, policy_reason: 'x: hunter2!Xy9 is too short' };
  const matched = marksOf([['hunter2!Xy9', '[REDACTED:secret_assignment]']]);
  const args = { LONG };
  const settings = settingsOf({ redact_dlp_matches: true });
  expect(await later(caller, { settings, ask: { args }, members: quoting, matched })).toEqual({
    target: '/cards/[REDACTED:payment_card]',
    policy_reason: 'x: [REDACTED:secret_assignment] is too short',
    requester_id: 'user-1',
    protected_fields: ['target', 'policy_reason'],
  });
  // They may be as large themselves, and the texts of fields are unknown.
  for (const [set, target] of [
    [settings, LONG],
    [settingsOf({ redact_fields: ['x'] }), 'a'],
  ] as const) {
    const kept = await later(caller, {
      settings: set,
      ask: { args },
      members: { ...members, target },
      matched,
    });
    expect(kept).toMatchObject({ target: '[REDACTED]', policy_reason: '[REDACTED]' });
  }
});

it('a value that only its argument name reveals is removed too', () => {
  const settings = settingsOf({ redact_dlp_matches: true });
  const args = { password: 'hunter2!Xy9' };
  const quoting = { ...members, target: 'a', policy_reason: 'x: hunter2!Xy9 is too short' };
  expect(protectMembers({ settings, ask: { args }, members: quoting }).policy_reason).toBe(
    'x: [REDACTED:secret_assignment] is too short',
  );
});

it('fields that are removed stand nowhere', () => {
  const settings = settingsOf({ redact_fields: ['path', 'requester_id'] });
  const args = { path: '/people/anna' };
  const quoting = { ...members, target: '/people/anna', policy_reason: 'x: /people/anna is hers' };
  expect(protectMembers({ settings, ask: { args }, members: quoting })).toEqual({
    target: '[REDACTED]',
    policy_reason: 'x: [REDACTED] is hers',
    requester_id: '[REDACTED]',
    protected_fields: ['target', 'policy_reason', 'requester_id'],
  });
});

it('what the control plane compares stays as it is, whatever the arguments and requesters are', () => {
  const reason = { ...members, target: 'a', policy_reason: DELEGATOR_LACKS };
  const settings = settingsOf({
    ...{ redact_dlp_matches: true, hash_identifiers: true },
    redact_fields: ['note', 'policy_reason'],
  });
  const args = { note: 'delegator', password: 'delegator', policy_reason: DELEGATOR_LACKS };
  const matched = marksOf([['delegator', '[REDACTED:word]']]);
  for (const given of [settings, null]) {
    const kept = protectMembers({
      settings: given,
      ask: { args },
      members: reason,
      otherRequesters: ['delegator', DELEGATOR_LACKS],
      matched,
    });
    expect(kept.policy_reason).toBe(DELEGATOR_LACKS);
    expect(kept.protected_fields).not.toContain('policy_reason');
  }
  const quoted = { ...reason, policy_reason: `Own: ${DELEGATOR_LACKS}` };
  const kept = protectMembers({
    settings,
    ask: { args },
    members: quoted,
    otherRequesters: [],
    matched,
  });
  expect(kept.policy_reason).not.toContain('delegator');
  expect(kept.protected_fields).toContain('policy_reason');
});

it('fields stand nowhere, however many texts they had', () => {
  const settings = settingsOf({ redact_fields: ['password'] });
  const many = (count: number) => [
    ...Array.from({ length: count }, (_, i) => `no-${i}`),
    'hunter22x',
  ];
  const quoting = {
    target: '/srv/hunter22x',
    policy_reason: 'x: hunter22x',
    requester_id: 'user-1',
  };
  const few = protectMembers({
    settings,
    ask: { args: { password: many(200) } },
    members: quoting,
  });
  expect(few).toMatchObject({ target: '/srv/[REDACTED]', requester_id: 'user-1' });
  const args = { password: many(20_000), content: 'x'.repeat(100_000) };
  expect(protectMembers({ settings, ask: { args }, members: quoting })).toEqual({
    target: '[REDACTED]',
    policy_reason: '[REDACTED]',
    requester_id: '[REDACTED]',
    protected_fields: ['target', 'policy_reason', 'requester_id'],
  });
});

it('where something cannot be taken out, nothing is said', () => {
  const settings = settingsOf({ redact_dlp_matches: true });
  const args = { card: 4111111111111111 };
  expect(
    protectMembers({ settings, ask: { args }, members: { ...members, policy_reason: null } }),
  ).toEqual({
    target: '[REDACTED]',
    policy_reason: null,
    requester_id: '[REDACTED]',
    protected_fields: ['target', 'requester_id'],
  });
});

it('identifiers are hashed, also the requester in the policy’s reasons', () => {
  const settings = settingsOf({ hash_identifiers: true });
  const args = { to: 'anna@corp.example' };
  const quoted = { target: 'anna@corp.example', policy_reason: 'x: not for user-1' };
  expect(
    protectMembers({ settings, ask: { args }, members: { ...quoted, requester_id: 'user-1' } }),
  ).toEqual({
    target: '#anna@corp.example#',
    policy_reason: 'x: not for #user-1#',
    requester_id: '#user-1#',
    protected_fields: ['target', 'policy_reason', 'requester_id'],
  });
  const nothing = { target: 'files', policy_reason: null, requester_id: null };
  expect(protectMembers({ settings, ask: { args }, members: nothing })).toEqual({
    ...nothing,
    protected_fields: [],
  });
});

it('the requester of a delegation is hashed as well', () => {
  const settings = settingsOf({ hash_identifiers: true });
  const quoted = { ...members, target: 'a', policy_reason: 'x: user-1 is not boss-2' };
  expect(
    protectMembers({ settings, ask: { args: {} }, members: quoted, otherRequesters: ['boss-2'] })
      .policy_reason,
  ).toBe('x: #user-1# is not #boss-2#');
});

it('what fields and matches remove is not hashed', () => {
  const settings = settingsOf({ hash_identifiers: true, redact_fields: ['requester_id'] });
  expect(protectMembers({ settings, ask: { args: {} }, members })).toMatchObject({
    requester_id: '[REDACTED]',
  });
});

it('a requester or an e-mail address never stands in a record in clear', () => {
  const settings = settingsOf({ hash_identifiers: true });
  const { atOnce: protect } = createProtectMembers(
    { hashOf: (id) => createIdentifierHash(id, KEY), keyOf: () => null },
    large,
  );
  const word = fc.string({ maxLength: 12 });
  // A sign that is in no hash, so that none looks like it by chance.
  const requester = fc.string({ minLength: 3, maxLength: 12 }).map((text) => `§${text}`);
  fc.assert(
    fc.property(requester, fc.emailAddress(), fc.array(word), (requester_id, address, words) => {
      const parts = [requester_id, ...words, ` ${address} `, requester_id, requester_id];
      const target = parts.join('');
      const policy_reason = parts.reverse().join('/');
      const quoted = { target, policy_reason, requester_id };
      const ask = { args: { to: [address] } };
      const left = protect({ settings, ask, members: quoted });
      expect(left.protected_fields).toEqual(['target', 'policy_reason', 'requester_id']);
      const domain = address.slice(address.indexOf('@'));
      for (const text of [left.target, left.policy_reason, left.requester_id]) {
        expect(text).not.toContain(requester_id);
        expect(text).not.toContain(domain);
      }
    }),
  );
});
