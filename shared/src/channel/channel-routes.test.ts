import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize } from '../json/canonical-json.ts';
import { isBatchSignedBy, type SignedBatch, signBatch } from '../ledger/audit-batch.ts';
import {
  BATCH_LIMITS,
  CHANNEL_PATHS,
  decodeBatch,
  encodeBatch,
  isRegistrationProven,
  proveRegistration,
  SnapshotLine,
} from './channel-routes.ts';
import { RegistrationRequest } from './channels.ts';

const ID = '0190aaaa-0000-7000-8000-00000000000a';
const OTHER = '0190aaaa-0000-7000-8000-00000000000b';
const writer = generateKeyPairSync('ed25519');
const aHash = fc.stringMatching(/^[0-9a-f]{64}$/);

/** Any canonical JSON, which is what records are. */
const aRecord = fc
  .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }))
  .map((value) => Buffer.from(canonicalize(value)));
const aBatch: fc.Arbitrary<SignedBatch> = fc
  .tuple(
    fc.array(aRecord, { minLength: 1, maxLength: 20 }),
    fc.integer({ min: 1, max: 1_000_000 }),
    aHash,
    aHash,
  )
  .map(([records, first_seq, prev_head, head]) => {
    const last_seq = first_seq + records.length - 1;
    const header = { tenant_id: ID, stream: OTHER, epoch: 1, first_seq, last_seq, prev_head, head };
    const hashes = records.map(() => head);
    return { ...signBatch(writer.privateKey, header, hashes), records };
  });

describe('a batch', () => {
  it('arrives as it was sent, byte for byte', () => {
    fc.assert(
      fc.property(aBatch, (batch) => {
        const decoded = decodeBatch(encodeBatch(batch));
        expect({ ...decoded, records: decoded.records.map((r) => Buffer.from(r)) }).toEqual(batch);
        const { header, signature } = decoded;
        expect(isBatchSignedBy(writer.publicKey, header, signature)).toBe(true);
      }),
    );
  });

  it('arrives out of any part of a larger buffer', () => {
    const [batch] = fc.sample(aBatch, 1) as [SignedBatch];
    const body = encodeBatch(batch);
    const around = new Uint8Array(body.length + 20).fill(0x20);
    around.set(body, 10);
    const decoded = decodeBatch(around.subarray(10, 10 + body.length));
    expect(decoded.records.map((record) => Buffer.from(record))).toEqual(batch.records);
  });

  it('of more lines than a batch may have is refused before they are taken apart', () => {
    const [batch] = fc.sample(aBatch, 1) as [SignedBatch];
    const header = encodeBatch({ ...batch, records: [] });
    const most = Buffer.concat([header, Buffer.from('\n{}'.repeat(BATCH_LIMITS.records))]);
    expect(decodeBatch(most).records).toHaveLength(BATCH_LIMITS.records);
    const bomb = Buffer.concat([header, Buffer.alloc(BATCH_LIMITS.bytes, '\n')]);
    expect(() => decodeBatch(bomb)).toThrow('at most');
  });

  it('says with a changed header that it is not what was signed', () => {
    fc.assert(
      fc.property(aBatch, fc.nat(), (batch, by) => {
        const { header, signature } = decodeBatch(encodeBatch(batch));
        const changed = { ...header, first_seq: header.first_seq + 1 + by };
        expect(isBatchSignedBy(writer.publicKey, changed, signature)).toBe(false);
      }),
    );
  });

  it('with its end cut off has fewer records, or a last one that is not JSON', () => {
    fc.assert(
      fc.property(aBatch, fc.nat(), (batch, at) => {
        const body = encodeBatch(batch);
        const firstLine = body.indexOf(0x0a);
        const cut = firstLine + (at % (body.length - firstLine));
        const { records } = decodeBatch(body.subarray(0, cut));
        const whole = batch.records.slice(0, records.length);
        const isSame = records.every(
          (record, i) => Buffer.compare(record, whole[i] ?? record) === 0,
        );
        expect(records.length < batch.records.length || !isSame).toBe(true);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'x'],
    ['a cut header', '{"header":{"v":1'],
    ['no signature', canonicalize({ header: aHeader() })],
    ['a long signature', canonicalize({ header: aHeader(), signature: 'x'.repeat(201) })],
    ['more than a header', canonicalize({ header: aHeader(), signature: 'x', more: 1 })],
    ['an unknown field', canonicalize({ header: { ...aHeader(), more: 1 }, signature: 'x' })],
    ['another version', canonicalize({ header: { ...aHeader(), v: 2 }, signature: 'x' })],
    ['a seq of 0', canonicalize({ header: { ...aHeader(), first_seq: 0 }, signature: 'x' })],
  ])('with %s is refused', (_, body) => {
    expect(() => decodeBatch(Buffer.from(body))).toThrow();
  });

  it('is refused or read, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeBatch(bytes);
        } catch (error) {
          expect(['ZodError', 'SyntaxError']).toContain((error as Error).name);
        }
      }),
    );
  });
});

function aHeader() {
  const hash = 'a'.repeat(64);
  const place = { epoch: 1, first_seq: 1, last_seq: 1, prev_head: hash, head: hash };
  return { v: 1, tenant_id: ID, stream: OTHER, ...place, event_root: hash };
}

describe('the proof of a registration', () => {
  const jwkOf = (key: typeof writer.publicKey) => key.export({ format: 'jwk' });
  const registration = RegistrationRequest.parse({
    signing_key: jwkOf(writer.publicKey),
    sealing_key: jwkOf(generateKeyPairSync('x25519').publicKey),
    token_key: { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
    region: 'eu',
    version: '1.0.0',
    label: 'one',
  });
  const proof = proveRegistration(writer.privateKey, registration, 'token');
  const isProven = (changes: object = {}, token = 'token', given = proof, key = writer.publicKey) =>
    isRegistrationProven(key, { ...registration, ...changes }, token, given);

  it('holds for what was asked with the token it was sent with', () => {
    expect(isProven()).toBe(true);
    const travelled = RegistrationRequest.parse(JSON.parse(JSON.stringify(registration)));
    expect(isRegistrationProven(writer.publicKey, travelled, 'token', proof)).toBe(true);
  });

  it('holds for nothing else', () => {
    const other = generateKeyPairSync('ed25519');
    expect(isProven({ label: 'two' })).toBe(false);
    expect(isProven({ region: null })).toBe(false);
    expect(isProven({ signing_key: jwkOf(other.publicKey) })).toBe(false);
    expect(isProven({ token_key: { kty: 'RSA', n: 'AQAC', e: 'AQAB' } })).toBe(false);
    expect(isProven({}, 'another token')).toBe(false);
    expect(isProven({}, 'token', proof, other.publicKey)).toBe(false);
    const byOther = proveRegistration(other.privateKey, registration, 'token');
    expect(isProven({}, 'token', byOther)).toBe(false);
    for (const nonsense of ['', 'x', '!', proof.slice(4)]) {
      expect(isProven({}, 'token', nonsense)).toBe(false);
    }
  });

  it('is false, and no error, where the key cannot sign so', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(isProven({}, 'token', proof, publicKey)).toBe(false);
  });
});

describe('what travels beside', () => {
  it('is found under the paths of the management API', () => {
    expect(CHANNEL_PATHS.feed(ID)).toBe(`/api/v1/data-planes/${ID}/feed`);
    expect(CHANNEL_PATHS.snapshot(ID)).toBe(`/api/v1/data-planes/${ID}/feed/snapshot`);
    expect(CHANNEL_PATHS.bundle(ID)).toBe(`/api/v1/opa/bundle/${ID}`);
  });

  it('is a line of a snapshot when it is an entry or an end', () => {
    const entry = { seq: 1, kind: 'role', key: 'k', value: { a: 1 } };
    expect(SnapshotLine.parse({ entry })).toEqual({ entry });
    for (const line of [{}, { entry: { ...entry, seq: 0 } }, { end: {} }, null, 'x']) {
      expect(SnapshotLine.safeParse(line).success).toBe(false);
    }
  });
});
