import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uuidv7 } from '../ids.ts';
import {
  type ChainBreak,
  type ChainLink,
  type ChainPosition,
  GENESIS_HASH,
  recordHash,
  verifyLink,
} from './hash-chain.ts';
import { type ChainHead, chainRecord, parseRecord, type UnchainedRecord } from './ledger-record.ts';

const TENANT = uuidv7();
const STREAM = uuidv7();

function anAlert(title: string): UnchainedRecord {
  return {
    type: 'alert',
    id: uuidv7(),
    timestamp: '2026-01-02T03:04:05.678Z',
    bundle_revision: 3,
    alert_type: 'TEST',
    severity: 'low',
    agent_id: null,
    title,
    details: { n: 1.5 },
    dedupe_key: null,
  };
}

interface Stored {
  bytes: Buffer;
  hash: string;
}

/** A stream of epochs with so many records each, after the record that starts it. */
function aStream(epochs: number[], stream = STREAM): Stored[] {
  const stored: Stored[] = [];
  let head: ChainHead = { tenant_id: TENANT, stream, epoch: 0, seq: 0, head: GENESIS_HASH };
  const write = (record: UnchainedRecord) => {
    const { bytes, hash, seq } = chainRecord(head, record);
    stored.push({ bytes, hash });
    head = { ...head, seq, head: hash };
  };
  for (const count of epochs) {
    const previous =
      head.epoch === 0 ? null : { epoch: head.epoch, last_seq: head.seq, head: head.head };
    head = { ...head, epoch: head.epoch + 1, seq: 0 };
    write({
      type: 'epoch_start',
      id: uuidv7(),
      timestamp: '2026-01-02T03:04:05.678Z',
      bundle_revision: null,
      previous,
      reason: previous ? 'boot' : 'created',
      writer_version: '1.0.0',
    });
    for (let i = 0; i < count; i++) write(anAlert(`alert ${i}`));
  }
  return stored;
}

function linkOf(bytes: Buffer): ChainLink {
  const record = parseRecord(bytes);
  const previous = record.type === 'epoch_start' ? record.previous : undefined;
  return { epoch: record.epoch, seq: record.seq, prev_hash: record.prev_hash, previous, bytes };
}

/** What a reader finds: breaks, or `unreadable` where bytes are no record any more. */
function check(stored: Stored[], trustStoredHashes = true): (ChainBreak | 'unreadable')[] {
  const found: (ChainBreak | 'unreadable')[] = [];
  let position: ChainPosition | null = null;
  for (const { bytes, hash } of stored) {
    let link: ChainLink;
    try {
      link = linkOf(bytes);
    } catch {
      found.push('unreadable');
      continue;
    }
    const { after, broken } = verifyLink(position, link, trustStoredHashes ? hash : undefined);
    if (broken) found.push(broken);
    position = after;
  }
  return found;
}

const epochs = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 });

describe('a chain', () => {
  it('verifies as it was written, whatever its epochs', () => {
    fc.assert(
      fc.property(epochs, (counts) => {
        expect(check(aStream(counts))).toEqual([]);
        expect(check(aStream(counts), false)).toEqual([]);
      }),
    );
  });

  it('shows any one-byte edit', () => {
    fc.assert(
      fc.property(
        epochs,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (counts, r, b, x) => {
          const stored = aStream(counts);
          const victim = stored[r % stored.length] as Stored;
          const at = b % victim.bytes.length;
          victim.bytes[at] = (victim.bytes[at] ?? 0) ^ x;
          expect(check(stored)).not.toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('shows any one-byte edit but of the last record without stored hashes too', () => {
    fc.assert(
      fc.property(
        epochs,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (counts, r, b, x) => {
          const stored = aStream([...counts, 1]);
          const victim = stored[r % (stored.length - 1)] as Stored;
          const at = b % victim.bytes.length;
          victim.bytes[at] = (victim.bytes[at] ?? 0) ^ x;
          expect(check(stored, false)).not.toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('reports one edit once, and continues', () => {
    const stored = aStream([4, 3]);
    const victim = stored[2] as Stored;
    const edited = Buffer.from(victim.bytes.toString().replace('"low"', '"high"'));
    expect(edited.equals(victim.bytes)).toBe(false);
    victim.bytes = edited;
    expect(check(stored)).toMatchObject([{ kind: 'content', epoch: 1, seq: 3 }]);
  });

  it('shows a record rewritten together with its hash', () => {
    const stored = aStream([4]);
    const victim = stored[2] as Stored;
    victim.bytes = Buffer.from(victim.bytes.toString().replace('"low"', '"high"'));
    victim.hash = recordHash(victim.bytes);
    expect(check(stored)).toMatchObject([{ kind: 'link', epoch: 1, seq: 4 }]);
  });

  it('shows the deletion of any records but a tail', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), fc.integer({ min: 1, max: 4 }), (counts, from, count) => {
        const stored = aStream([...counts, 1]);
        const start = from % (stored.length - 1);
        const deleted = Math.min(count, stored.length - 1 - start);
        expect(check(stored.toSpliced(start, deleted))).not.toEqual([]);
      }),
    );
  });

  it('shows a cut tail as soon as there is a later epoch', () => {
    const stored = aStream([3]);
    const cut = stored.slice(0, -1);
    const [next] = aStream([3, 0]).slice(-1);
    expect(check(cut)).toEqual([]);
    expect(check([...cut, next as Stored])).toMatchObject([{ kind: 'epoch', epoch: 2, seq: 1 }]);
  });

  it('shows the exchange of any two records', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), fc.nat(), (counts, a, b) => {
        const stored = aStream([...counts, 1]);
        const i = a % stored.length;
        const j = b % stored.length;
        fc.pre(i !== j);
        const exchanged = stored.with(i, stored[j] as Stored).with(j, stored[i] as Stored);
        expect(check(exchanged)).not.toEqual([]);
      }),
    );
  });

  it('shows a record doubled at any place', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), (counts, at) => {
        const stored = aStream(counts);
        const i = at % stored.length;
        expect(check(stored.toSpliced(i, 0, stored[i] as Stored))).not.toEqual([]);
      }),
    );
  });

  it('shows a splice of records from another stream at the same places', () => {
    fc.assert(
      fc.property(epochs, fc.nat(), fc.integer({ min: 1, max: 4 }), (counts, from, count) => {
        const stored = aStream([...counts, 1]);
        const other = aStream([...counts, 1], uuidv7());
        const start = from % (stored.length - 1);
        const end = Math.min(start + count, stored.length - 1);
        const spliced = stored.toSpliced(start, end - start, ...other.slice(start, end));
        expect(check(spliced)).not.toEqual([]);
      }),
    );
  });

  it('shows a beginning that is not one, and an epoch that skips a number', () => {
    const stored = aStream([1, 1, 1]);
    expect(check(stored.slice(1))).toMatchObject([{ kind: 'sequence', epoch: 1, seq: 2 }]);
    expect(check(stored.toSpliced(2, 2))).toMatchObject([{ kind: 'epoch', epoch: 3, seq: 1 }]);
  });
});

describe('recordHash', () => {
  it('is the leaf hash of RFC 6962', () => {
    const bytes = Buffer.from('{"a":1}');
    const expected = createHash('sha256').update(Buffer.concat([Buffer.from([0]), bytes]));
    expect(recordHash(bytes)).toBe(expected.digest('hex'));
  });
});

describe('parseRecord', () => {
  const [start] = aStream([0]);

  it('reads what chainRecord wrote', () => {
    expect(parseRecord((start as Stored).bytes)).toMatchObject({ type: 'epoch_start', seq: 1 });
  });

  it.each([
    ['white space', (text: string) => `${text} `],
    ['another key order', (text: string) => text.replace(/^\{("[^,]+),(.*)\}$/, '{$2,$1}')],
    ['a doubled key', (text: string) => text.replace('{', '{"v":2,')],
    ['an unknown key', (text: string) => text.replace(/\}$/, ',"zzz":1}')],
    ['another version', (text: string) => text.replace('"v":2', '"v":3')],
    ['a missing field', (text: string) => text.replace('"reason":"created",', '')],
  ])('refuses a record with %s', (_what, change) => {
    const text = (start as Stored).bytes.toString();
    expect(change(text)).not.toBe(text);
    expect(() => parseRecord(Buffer.from(change(text)))).toThrow();
  });

  it('refuses bytes that are not UTF-8, which a lenient reader would silently replace', () => {
    const bytes = Buffer.from((start as Stored).bytes);
    bytes[bytes.indexOf('1.0.0')] = 0xff;
    expect(() => parseRecord(bytes)).toThrow(TypeError);
  });
});
