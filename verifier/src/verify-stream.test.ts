import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { uuidv7 } from '@governance/shared/ids';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import {
  type ChainHead,
  chainRecord,
  type UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { readLines } from '@governance/shared/process/read-lines';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StreamRecord, verifyStream } from './verify-stream.ts';

const TENANT = uuidv7();

/** A stream with this many alerts in each epoch. */
function* aStream(epochs: number[], stream = uuidv7()): Generator<Required<StreamRecord>> {
  let head: ChainHead = { tenant_id: TENANT, stream, epoch: 0, seq: 0, head: GENESIS_HASH };
  const chain = (record: UnchainedRecord) => {
    const { bytes, hash, seq } = chainRecord(head, record);
    head = { ...head, seq, head: hash };
    return { bytes, hash };
  };
  const about = { timestamp: '2026-01-02T03:04:05.678Z', bundle_revision: null };
  for (const count of epochs) {
    const { epoch, seq, head: end } = head;
    const previous = epoch === 0 ? null : { epoch, last_seq: seq, head: end };
    head = { ...head, epoch: epoch + 1, seq: 0 };
    const reason = previous ? 'boot' : 'created';
    yield chain({
      ...about,
      type: 'epoch_start',
      id: uuidv7(),
      previous,
      reason,
      writer_version: '1',
    });
    for (let i = 0; i < count; i++) {
      yield chain({
        ...about,
        type: 'alert',
        id: uuidv7(),
        alert_type: 'TEST',
        severity: 'low',
        agent_id: null,
        title: `alert ${i}`,
        details: {},
        dedupe_key: null,
      });
    }
  }
}

describe('verifyStream', () => {
  it('verifies what was written, and says where it ends', async () => {
    const records = [...aStream([2, 0, 3])];
    const report = await verifyStream(records);
    expect(report).toMatchObject({
      verified: true,
      tenant_id: TENANT,
      records: 8,
      epochs: 3,
      last: { epoch: 3, seq: 4, head: records.at(-1)?.hash },
      break_count: 0,
      breaks: [],
    });
    const [head] = [report.last ?? undefined];
    expect((await verifyStream(records, { head })).verified).toBe(true);
    expect(await verifyStream(records.slice(0, -1), { head })).toMatchObject({
      verified: false,
      breaks: [{ kind: 'head' }],
    });
  });

  it('verifies nothing where there is nothing', async () => {
    expect(await verifyStream([])).toMatchObject({ verified: false, records: 0, breaks: [] });
  });

  it('never verifies a stream with one byte changed, one record lost, doubled or moved', async () => {
    const damage = fc.constantFrom('edit', 'delete', 'double', 'swap');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
        damage,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (epochs, how, a, b, flip) => {
          const records = [...aStream([...epochs, 1])];
          const at = a % (records.length - 1);
          const victim = records[at] as Required<StreamRecord>;
          if (how === 'edit') {
            const bytes = Buffer.from(victim.bytes);
            bytes[b % bytes.length] = (bytes[b % bytes.length] ?? 0) ^ flip;
            records[at] = { ...victim, bytes };
          } else if (how === 'delete') records.splice(at, 1);
          else if (how === 'double') records.splice(at, 0, victim);
          else {
            const next = records[at + 1] as Required<StreamRecord>;
            records.splice(at, 2, next, victim);
          }
          expect((await verifyStream(records)).verified).toBe(false);
          const bare = records.map(({ bytes }) => ({ bytes }));
          expect((await verifyStream(bare)).verified).toBe(false);
        },
      ),
    );
  });

  it('names the record of another stream, and continues with the right one', async () => {
    const records = [...aStream([3])];
    const [stranger] = [...aStream([3])].slice(2, 3);
    records.splice(2, 0, stranger as Required<StreamRecord>);
    expect(await verifyStream(records)).toMatchObject({
      break_count: 1,
      breaks: [{ kind: 'binding', index: 3 }],
    });
  });

  it('reports an unreadable record once', async () => {
    const records = [...aStream([4])];
    const victim = records[2] as Required<StreamRecord>;
    records[2] = { bytes: Buffer.from('not json'), hash: victim.hash };
    expect(await verifyStream(records)).toMatchObject({
      break_count: 1,
      breaks: [{ kind: 'unreadable', index: 3, epoch: null, seq: null }],
    });
  });

  it('keeps a bounded report of a stream that is all broken', async () => {
    const report = await verifyStream(
      Array.from({ length: 1_000 }, () => ({ bytes: Buffer.of(1) })),
    );
    expect(report.break_count).toBe(1_000);
    expect(report.breaks).toHaveLength(100);
  });
});

describe('readLines', () => {
  const lines = async (chunks: Buffer[], limit = 1_000) => {
    const found: string[] = [];
    for await (const line of readLines(chunks, limit)) found.push(line.toString());
    return found;
  };

  it('finds the same lines wherever the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]{0,9}$/), { minLength: 1 }),
        fc.array(fc.nat(40)),
        async (expected, cuts) => {
          const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
          const chunks: Buffer[] = [];
          let from = 0;
          for (const cut of [...cuts, bytes.length]) {
            chunks.push(bytes.subarray(from, from + cut));
            from += cut;
          }
          expect(await lines(chunks)).toEqual(expected);
        },
      ),
    );
  });

  it('gives the last line without its LF too, and refuses a line that is too long', async () => {
    expect(await lines([Buffer.from('a\nb')])).toEqual(['a', 'b']);
    await expect(lines([Buffer.alloc(600, 'a'), Buffer.alloc(600, 'a')])).rejects.toThrow('longer');
  });
});

describe('verify-ledger', () => {
  const run = (input: string) =>
    spawnSync(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('./verify-ledger.ts', import.meta.url))],
      { input, encoding: 'utf8' },
    );

  it('shows by its exit code whether the records on standard input verify', () => {
    const text = [...aStream([2])].map(({ bytes }) => `${Buffer.from(bytes)}\n`);
    const good = run(text.join(''));
    expect(good).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(good.stdout)).toMatchObject({ verified: true, records: 3 });
    expect(run(text.toSpliced(1, 1).join(''))).toMatchObject({ status: 1 });
    expect(run('a'.repeat(2_000_000))).toMatchObject({ status: 2 });
  });
});
