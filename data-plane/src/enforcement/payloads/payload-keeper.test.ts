import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { PolicyInput } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { MAX_PAYLOAD_BYTES, payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { createIdentifierHash } from '@governance/shared/keys/identifier-hash';
import type { DataProtectionSettings } from '@governance/shared/settings/data-protection-settings';
import { afterAll, expect, it, vi } from 'vitest';
import type { NewPayload } from '../../payloads/payload-spool.ts';
import { FairBytes } from '../../upstream/shares/fair-bytes.ts';
import type { Answer } from '../call/answer.ts';
import type { ScannedCall } from '../call/calls.ts';
import type { KeptPayload } from '../record/kept-payload.ts';
import { createLargeValues } from '../scan-thread/large-values.ts';
import { createScanThreads } from '../scan-thread/scan-threads.ts';
import { createPayloadKeeper } from './payload-keeper.ts';

const sealing_key = {
  kty: 'OKP',
  crv: 'X25519',
  x: randomBytes(32).toString('base64url'),
  kid: 'k',
} as const;
const tenantId = uuidv7();
const deploymentId = uuidv7();
const KEY = { tenantId, key: new Uint8Array(32).fill(7) };

const threads = createScanThreads();
afterAll(() => threads.close());

function aKeeper(hasRoom = true, ofThreads = threads, memory = 64 * MAX_PAYLOAD_BYTES) {
  const now: { settings: BundleSettings | null } = { settings: null };
  const added: NewPayload[] = [];
  const notKept = vi.fn();
  const raiseAlert = vi.fn();
  const room = new FairBytes(memory, () => false);
  const made = createPayloadKeeper({
    spool: { add: (payload) => hasRoom && added.push(payload) > 0 },
    findDeploymentId: () => deploymentId,
    findSettings: () => now.settings,
    identifiers: { hashOf: () => (identifier) => `#${identifier.length}`, keyOf: () => KEY },
    large: createLargeValues(ofThreads),
    room,
    raiseAlert,
    onKept: () => undefined,
    onNotKept: notKept,
  });
  const keeper = {
    keepInput: (call: ScannedCall, inputOf: () => PolicyInput) => {
      const prepared = made.protectInput(call, inputOf);
      if (prepared instanceof Promise) throw new Error('it is large');
      return made.keepInput(call, prepared);
    },
    keepLarge: async (call: ScannedCall, inputOf: () => PolicyInput) => {
      const prepared = made.protectInput(call, inputOf);
      expect(prepared).toBeInstanceOf(Promise);
      return made.keepInput(call, await prepared);
    },
    keepResult: (call: ScannedCall, kept: KeptPayload | null, sent: Answer, heldBytes = 0) =>
      made.keepResult(call, kept, sent, heldBytes),
  };
  return { keeper, added, notKept, raiseAlert, room, now };
}

function aCall(protection: Partial<DataProtectionSettings> | null, method = 'tools/call') {
  const data_protection = protection && {
    payload_mode: 'full',
    redact_dlp_matches: false,
    redact_fields: [],
    hash_identifiers: false,
    sealing_key,
    ...protection,
  };
  return {
    id: uuidv7(),
    caller: { tenantId, key: `${tenantId} a`, agent: { id: 'a' } },
    agent: { id: 'agent-1', name: 'n', owner: 'o', notForThreads: () => undefined },
    ask: { serverId: 'up', method, name: 'tool', args: {} },
    dlp: { findings: [], action: null },
    rules: { settings: { tenant_id: tenantId, mcp_servers: {}, data_protection } },
  } as unknown as ScannedCall;
}

const inputOf =
  (parameters: unknown, resource = 'r') =>
  () =>
    ({ request: { parameters, resource } }) as unknown as PolicyInput;
const answerOf = (value: unknown, raw = JSON.stringify(value)) =>
  ({ kind: 'result', raw, value }) as Answer;

const CARD = '4111 1111 1111 1111';
const LONG = 'lorem ipsum dolor sit amet, '.repeat(32_000);

it('a large part is kept without its matches, and other work goes on meanwhile', async () => {
  const { keeper, added, notKept, room } = aKeeper();
  const call = aCall({ payload_mode: 'redacted', redact_fields: ['secret'] });
  const value = { secret: 'hunter22x', content: [{ type: 'text', text: `${LONG} ${CARD}` }] };
  const raw = JSON.stringify({ ...value, again: ['hunter22x', CARD] });
  expect(raw.length).toBeGreaterThan(896_000);
  const happened: string[] = [];
  const kept = await keeper.keepLarge(call, inputOf({ card: CARD, LONG }));
  expect(room.total).toBe(0);
  const keeping = keeper.keepResult(call, kept, answerOf(JSON.parse(raw), raw));
  expect(room.total).toBeGreaterThan(raw.length);
  setImmediate(() => happened.push('other work'));
  const digest = await Promise.resolve(keeping).finally(() => happened.push('kept'));
  expect(happened).toEqual(['other work', 'kept']);
  expect(room.total).toBe(0);
  const [input, result] = added.map(({ content }) => content);
  const mark = '[REDACTED:payment_card]';
  expect(JSON.parse(input?.text ?? '').request.parameters).toEqual({ card: mark, LONG });
  expect(JSON.parse(result?.text ?? '')).toEqual({
    content: [{ type: 'text', text: `${LONG} ${mark}` }],
    again: ['[REDACTED]', mark],
  });
  const salt = Buffer.from(input?.salt ?? '', 'base64url');
  expect(kept?.digest).toBe(payloadDigest(salt, input?.text ?? ''));
  expect(digest).toBe(payloadDigest(salt, result?.text ?? ''));
  expect(notKept).not.toHaveBeenCalled();
});

it('in a large part identifiers are hashed too, and one that has none is kept as it came', async () => {
  const { keeper, added } = aKeeper();
  const call = aCall({ hash_identifiers: true });
  const hash = createIdentifierHash(tenantId, KEY.key);
  const kept = await keeper.keepLarge(call, inputOf({ to: 'anna@corp.example', LONG }));
  const raw = `{ "text" : "${LONG}" }`;
  await keeper.keepResult(call, kept, answerOf(JSON.parse(raw), raw));
  const [input, result] = added.map(({ content }) => content.text);
  expect(JSON.parse(input ?? '').request.parameters.to).toBe(hash('anna@corp.example'));
  expect(result).toBe(raw);
});

const LIMITS = { threads: 1, waiting: 1, waitMs: 60_000, runMs: 60_000 };

it.each([
  ['it waits too long for its turn', { ...LIMITS, threads: 0, waitMs: 1 }, undefined],
  ['it takes too long', { ...LIMITS, runMs: 50 }, 'for (;;);'],
  ['the thread throws', LIMITS, `throw new Error('out of memory')`],
])('a large part is left out where %s, and its call goes on', async (_, limits, code) => {
  const start = code === undefined ? undefined : () => new Worker(code, { eval: true });
  const own = createScanThreads(limits, start);
  const { keeper, added, notKept, raiseAlert } = aKeeper(true, own);
  const call = aCall({ payload_mode: 'redacted' });
  const kept = await keeper.keepLarge(call, inputOf({ LONG }));
  expect(kept).toMatchObject({ digest: null });
  const answer = answerOf({ content: [{ type: 'text', text: LONG }] });
  expect(await keeper.keepResult(call, kept, answer)).toBeNull();
  expect(added).toEqual([]);
  expect(notKept.mock.calls).toEqual([['not_redactable'], ['not_redactable']]);
  const details = { reason: 'not_redactable' };
  const alert = expect.objectContaining({ alert_type: 'PAYLOAD_NOT_KEPT', details });
  expect(raiseAlert).toHaveBeenCalledWith(tenantId, alert);
  await own.close();
});

it('a large part without room in memory is left out', () => {
  const { keeper, added, notKept } = aKeeper(true, threads, MAX_PAYLOAD_BYTES);
  const kept = keeper.keepInput(aCall({ payload_mode: 'redacted' }), inputOf({ LONG }));
  expect(kept).toMatchObject({ digest: null });
  expect(added).toEqual([]);
  expect(notKept.mock.calls).toEqual([['no_room']]);
});

it('the memory of a large answer counts once, so that the only one of its agent is kept', async () => {
  const answer = answerOf({ text: LONG });
  const bytes = LONG.length;
  for (const [others, reason] of [
    [0, undefined],
    [1, 'no_room'],
  ] as const) {
    const { keeper, added, notKept, room } = aKeeper(true, threads, 5 * bytes);
    const call = aCall({ payload_mode: 'redacted' });
    const kept = keeper.keepInput(call, inputOf({}));
    room.add(call.caller, bytes + others);
    await keeper.keepResult(call, kept, answer, bytes);
    expect(notKept.mock.calls.flat()[0]).toBe(reason);
    expect(added.map(({ content }) => content.part)).toEqual(
      reason ? ['input'] : ['input', 'result'],
    );
  }
});

it('an input of more than a part may have is not looked through', () => {
  const { keeper, notKept } = aKeeper();
  const value = { text: 'x'.repeat(MAX_PAYLOAD_BYTES) };
  const kept = keeper.keepInput(aCall({ payload_mode: 'redacted' }), inputOf(value));
  expect(kept).toMatchObject({ digest: null });
  expect(notKept.mock.calls).toEqual([['too_large']]);
});

it('a large part that nothing is taken out of is kept at once', () => {
  const { keeper, added } = aKeeper();
  keeper.keepInput(aCall({}), inputOf({ LONG }));
  expect(added).toHaveLength(1);
});

it('keeps both parts under one salt, the result as it came', () => {
  const { keeper, added } = aKeeper();
  const call = aCall({});
  const kept = keeper.keepInput(call, inputOf({ a: 1 }));
  const raw = '{ "content" : [] }';
  const digest = keeper.keepResult(call, kept, answerOf({ content: [] }, raw));
  const [input, result] = added.map(({ content }) => content);
  expect(input).toMatchObject({
    tenant_id: tenantId,
    deployment_id: deploymentId,
    event_id: call.id,
    part: 'input',
    mode: 'full',
  });
  expect(result).toMatchObject({ part: 'result', text: raw, salt: input?.salt });
  const salt = Buffer.from(input?.salt ?? '', 'base64url');
  expect(kept?.digest).toBe(payloadDigest(salt, input?.text ?? ''));
  expect(digest).toBe(payloadDigest(salt, raw));
});

it.each([
  ['without data protection', aCall(null)],
  ['with metadata alone', aCall({ payload_mode: 'metadata_only' })],
  ['without a key to seal to', aCall({ sealing_key: null })],
  ['of a list', aCall({}, 'tools/list')],
  ['of a local model', aCall({}, 'localmodel/chat')],
  ['of the client’s model', aCall({}, 'sampling/createMessage')],
  ['that was denied before it was scanned', { ...aCall({}), dlp: undefined }],
])('keeps nothing of a call %s', (_, call) => {
  const { keeper, added, raiseAlert } = aKeeper();
  const kept = keeper.keepInput(call as ScannedCall, inputOf({}));
  expect(kept).toBeNull();
  expect(keeper.keepResult(call as ScannedCall, kept, answerOf({}))).toBeNull();
  expect(added).toEqual([]);
  expect(raiseAlert).not.toHaveBeenCalled();
});

it('what is removed from the arguments is nowhere else in the stored payload', () => {
  const { keeper, added } = aKeeper();
  const matches = aCall({ payload_mode: 'redacted' });
  keeper.keepInput(matches, inputOf({ password: 'hunter2!Xy9' }, 'hunter2!Xy9'));
  const fields = aCall({ redact_fields: ['path'] });
  const kept = keeper.keepInput(fields, inputOf({ path: '/people/anna' }, '/people/anna'));
  keeper.keepResult(fields, kept, answerOf({ path: '/p/anna', text: 'it is /p/anna' }));
  expect(added).toHaveLength(3);
  expect(added.map(({ content }) => content.text).join()).not.toMatch(/hunter2|anna/);
});

it('removals cannot make the stored payload grow endlessly', () => {
  const { keeper, added } = aKeeper();
  const mark = '[REDACTED]';
  const parts = [4, 5, 6, 7].flatMap((length) =>
    Array.from({ length: mark.length - length + 1 }, (_, at) => mark.slice(at, at + length)),
  );
  const value = { secrets: parts, note: parts.join('') };
  keeper.keepInput(aCall({ redact_fields: ['secrets'] }), inputOf(value));
  expect(added[0]?.content.text.length).toBeLessThan(2_000);
});

/** Nothing that JSON can write. */
const UNWRITABLE = { count: 1n };

it.each([
  ['no_room', {}, {}, false],
  ['too_large', {}, { text: 'x'.repeat(MAX_PAYLOAD_BYTES) }, true],
  ['not_redactable', { redact_dlp_matches: true }, { card: 4111111111111111 }, true],
  ['not_redactable', {}, UNWRITABLE, true],
  ['not_redactable', { hash_identifiers: true }, UNWRITABLE, true],
] as const)('%s is reported, and has no digest', (reason, protection, value, hasRoom) => {
  const { keeper, added, notKept, raiseAlert } = aKeeper(hasRoom);
  const kept = keeper.keepInput(aCall(protection), inputOf(value));
  expect(kept?.digest).toBeNull();
  expect(added).toEqual([]);
  expect(notKept).toHaveBeenCalledWith(reason);
  expect(raiseAlert).toHaveBeenCalledWith(
    tenantId,
    expect.objectContaining({ alert_type: 'PAYLOAD_NOT_KEPT', details: { reason } }),
  );
});

it('an answer that is too large is not read before it is left out', () => {
  const { keeper, added, notKept } = aKeeper();
  const call = aCall({ redact_dlp_matches: true });
  const kept = keeper.keepInput(call, inputOf({}));
  const value = {
    get text(): string {
      throw new Error('it was looked at');
    },
  };
  const raw = ' '.repeat(MAX_PAYLOAD_BYTES + 1);
  expect(keeper.keepResult(call, kept, answerOf(value, raw))).toBeNull();
  expect(notKept.mock.calls).toEqual([['too_large']]);
  expect(added).toHaveLength(1);
});

it('the stored payload has hashes instead of identifiers, and its digest covers them', () => {
  const { keeper, added } = aKeeper();
  const call = aCall({ hash_identifiers: true });
  const kept = keeper.keepInput(call, inputOf({ to: 'anna@corp.example' }));
  const raw = '{ "content" : [] }';
  keeper.keepResult(call, kept, answerOf({ content: [] }, raw));
  keeper.keepResult(call, kept, answerOf({ text: 'to anna@corp.example' }));
  expect(added.map(({ content }) => content.text)).toEqual([
    '{"request":{"parameters":{"to":"#17"},"resource":"r"}}',
    raw,
    '{"text":"to #17"}',
  ]);
  const delegated = {
    ...call,
    requester: { id: 'boss-2', verified: true },
    delegation: { links: [{ delegation: { requester: 'boss-2' } }] },
    caller: { ...call.caller, requesterId: null },
  } as unknown as ScannedCall;
  const asked = { requester: delegated.requester, delegation: { requester: 'boss-2' } };
  keeper.keepInput(delegated, () => asked as unknown as PolicyInput);
  expect(added.at(-1)?.content.text).toBe(
    '{"requester":{"id":"#6","verified":true},"delegation":{"requester":"#6"}}',
  );
  const salt = Buffer.from(added[0]?.content.salt ?? '', 'base64url');
  expect(kept?.digest).toBe(payloadDigest(salt, added[0]?.content.text ?? ''));
});

it('a result is kept as the tenant wants it when it arrives, if at all', () => {
  const { keeper, added, now } = aKeeper();
  const answer = answerOf({ secret: 'hunter22x', text: 'it is hunter22x' });
  const keep = (later: ScannedCall) => {
    const call = aCall({});
    const kept = keeper.keepInput(call, inputOf({ secret: 'hunter22x' }));
    now.settings = later.rules?.settings ?? null;
    return keeper.keepResult(call, kept, answer);
  };
  expect(keep(aCall({ payload_mode: 'metadata_only' }))).toBeNull();
  expect(keep(aCall({ payload_mode: 'encrypted', redact_fields: ['secret'] }))).not.toBeNull();
  expect(added.map(({ content }) => [content.part, content.mode])).toEqual([
    ['input', 'full'],
    ['input', 'full'],
    ['result', 'encrypted'],
  ]);
  expect(added.at(-1)?.content.text).toBe('{"text":"it is [REDACTED]"}');
});
