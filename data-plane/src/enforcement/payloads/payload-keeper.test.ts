import { randomBytes } from 'node:crypto';
import type { PolicyInput } from '@governance/policies/contract';
import type { DataProtectionSettings } from '@governance/shared/data-protection-settings';
import { MAX_PAYLOAD_BYTES, payloadDigest } from '@governance/shared/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, expect, it, vi } from 'vitest';
import type { NewPayload } from '../../payloads/payload-spool.ts';
import type { Answer } from '../answer.ts';
import type { ScannedCall } from '../calls.ts';
import { createDlpScans } from '../scan-thread/dlp-scans.ts';
import { createScanThreads, ScanFailure } from '../scan-thread/scan-threads.ts';
import { createPayloadKeeper } from './payload-keeper.ts';

const sealing_key = {
  kty: 'OKP',
  crv: 'X25519',
  x: randomBytes(32).toString('base64url'),
  kid: 'k',
} as const;
const tenantId = uuidv7();
const deploymentId = uuidv7();

const threads = createScanThreads();
afterAll(() => threads.close());
const scans = createDlpScans(threads);

function aKeeper({ hasRoom = true, hasMemory = true, isBusy = false, isHeld = false } = {}) {
  const added: NewPayload[] = [];
  const notKept = vi.fn();
  const raiseAlert = vi.fn();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  const keeper = createPayloadKeeper({
    spool: { add: (payload) => hasRoom && added.push(payload) > 0 },
    findDeploymentId: () => deploymentId,
    identifiers: { hashOf: () => (identifier) => `#${identifier.length}` },
    scans: {
      kept: async (caller, value, settings) => {
        if (isBusy) throw new ScanFailure('overloaded', 'too many scans wait');
        if (isHeld) await released;
        return scans.kept(caller, value, settings);
      },
    },
    room: {
      hasRoom: () => hasMemory,
      add: (_owner, bytes) => {
        waiting += bytes;
      },
    },
    raiseAlert,
    onKept: () => undefined,
    onNotKept: notKept,
  });
  return { keeper, added, notKept, raiseAlert, release, isWaiting: () => waiting > 0 };
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
    caller: { tenantId, agent: { id: uuidv7() } },
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

it('takes matches out of a large input and result on another thread, while other calls go on', async () => {
  const { keeper, added, isWaiting, release } = aKeeper({ isHeld: true });
  const call = aCall({ payload_mode: 'redacted' });
  const long = { text: `${'lorem ipsum '.repeat(70_000)} password: hunter2!Xy9z` };
  const keeping = keeper.keepInput(call, inputOf(long));
  expect(keeping).toBeInstanceOf(Promise);
  expect(isWaiting()).toBe(true);
  // Small ones are kept meanwhile.
  expect((await keeper.keepInput(call, inputOf({ a: 1 })))?.digest).not.toBeNull();
  release();
  const kept = await keeping;
  const digest = await keeper.keepResult(call, kept, answerOf(long));
  expect(kept?.digest).not.toBeNull();
  expect(digest).not.toBeNull();
  expect(isWaiting()).toBe(false);
  expect(added).toHaveLength(3);
  const [, input, result] = added.map(({ content }) => content);
  expect([input?.part, result?.part]).toEqual(['input', 'result']);
  expect(input?.text.length).toBeGreaterThan(800_000);
  expect(`${input?.text}${result?.text}`).not.toContain('hunter2');
  expect(result?.text).toContain('[REDACTED:secret_assignment]');
});

it('keeps a large value that nothing is looked for in at once', async () => {
  const { keeper, added } = aKeeper({ isHeld: true });
  await keeper.keepInput(aCall({}), inputOf({ long: 'x'.repeat(100_000) }));
  expect(added).toHaveLength(1);
});

it.each([
  ['no_room', { hasMemory: false }],
  ['not_redactable', { isBusy: true }],
] as const)('%s: a large value is left out, and its call goes on', async (reason, options) => {
  const { keeper, added, notKept, isWaiting } = aKeeper(options);
  const call = aCall({ payload_mode: 'redacted' });
  const kept = await keeper.keepInput(call, inputOf({ long: 'x '.repeat(50_000) }));
  expect(kept).toMatchObject({ digest: null });
  expect(added).toEqual([]);
  expect(notKept.mock.calls).toEqual([[reason]]);
  expect(isWaiting()).toBe(false);
});

it('keeps both parts under one salt, the result as it came', async () => {
  const { keeper, added } = aKeeper();
  const call = aCall({});
  const kept = await keeper.keepInput(call, inputOf({ a: 1 }));
  const raw = '{ "content" : [] }';
  const digest = await keeper.keepResult(call, kept, answerOf({ content: [] }, raw));
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
])('keeps nothing of a call %s', async (_, call) => {
  const { keeper, added, raiseAlert } = aKeeper();
  const kept = await keeper.keepInput(call as ScannedCall, inputOf({}));
  expect(kept).toBeNull();
  expect(await keeper.keepResult(call as ScannedCall, kept, answerOf({}))).toBeNull();
  expect(added).toEqual([]);
  expect(raiseAlert).not.toHaveBeenCalled();
});

it('what is removed from the arguments is nowhere else in the stored payload', async () => {
  const { keeper, added } = aKeeper();
  const matches = aCall({ payload_mode: 'redacted' });
  await keeper.keepInput(matches, inputOf({ password: 'hunter2!Xy9' }, 'hunter2!Xy9'));
  const fields = aCall({ redact_fields: ['path'] });
  const kept = await keeper.keepInput(fields, inputOf({ path: '/people/anna' }, '/people/anna'));
  await keeper.keepResult(fields, kept, answerOf({ path: '/p/anna', text: 'it is /p/anna' }));
  expect(added).toHaveLength(3);
  expect(added.map(({ content }) => content.text).join()).not.toMatch(/hunter2|anna/);
});

it('removals cannot make the stored payload grow endlessly', async () => {
  const { keeper, added } = aKeeper();
  const mark = '[REDACTED]';
  const parts = [4, 5, 6, 7].flatMap((length) =>
    Array.from({ length: mark.length - length + 1 }, (_, at) => mark.slice(at, at + length)),
  );
  const value = { secrets: parts, note: parts.join('') };
  await keeper.keepInput(aCall({ redact_fields: ['secrets'] }), inputOf(value));
  expect(added[0]?.content.text.length).toBeLessThan(2_000);
});

/** Too deep to be written as JSON. */
function deep(): unknown {
  let value: unknown = 1;
  for (let level = 0; level < 1e5; level++) value = [value];
  return value;
}

it.each([
  ['no_room', {}, {}, false],
  ['too_large', {}, { text: 'x'.repeat(MAX_PAYLOAD_BYTES) }, true],
  ['not_redactable', { redact_dlp_matches: true }, { card: 4111111111111111 }, true],
  ['not_redactable', {}, deep(), true],
] as const)('%s is reported, and has no digest', async (reason, protection, value, hasRoom) => {
  const { keeper, added, notKept, raiseAlert } = aKeeper({ hasRoom });
  const kept = await keeper.keepInput(aCall(protection), inputOf(value));
  expect(kept?.digest).toBeNull();
  expect(added).toEqual([]);
  expect(notKept).toHaveBeenCalledWith(reason);
  expect(raiseAlert).toHaveBeenCalledWith(
    tenantId,
    expect.objectContaining({ alert_type: 'PAYLOAD_NOT_KEPT', details: { reason } }),
  );
});

it('an answer that is too large is not read before it is left out', async () => {
  const { keeper, added, notKept } = aKeeper();
  const call = aCall({ redact_dlp_matches: true });
  const kept = await keeper.keepInput(call, inputOf({}));
  const value = {
    get text(): string {
      throw new Error('it was looked at');
    },
  };
  const raw = ' '.repeat(MAX_PAYLOAD_BYTES + 1);
  expect(await keeper.keepResult(call, kept, answerOf(value, raw))).toBeNull();
  expect(notKept.mock.calls).toEqual([['too_large']]);
  expect(added).toHaveLength(1);
});

it('the stored payload has hashes instead of identifiers, and its digest covers them', async () => {
  const { keeper, added } = aKeeper();
  const call = aCall({ hash_identifiers: true });
  const kept = await keeper.keepInput(call, inputOf({ to: 'anna@corp.example' }));
  const raw = '{ "content" : [] }';
  await keeper.keepResult(call, kept, answerOf({ content: [] }, raw));
  await keeper.keepResult(call, kept, answerOf({ text: 'to anna@corp.example' }));
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
  await keeper.keepInput(delegated, () => asked as unknown as PolicyInput);
  expect(added.at(-1)?.content.text).toBe(
    '{"requester":{"id":"#6","verified":true},"delegation":{"requester":"#6"}}',
  );
  const salt = Buffer.from(added[0]?.content.salt ?? '', 'base64url');
  expect(kept?.digest).toBe(payloadDigest(salt, added[0]?.content.text ?? ''));
});
