/** `verify-ledger` on the real ledger of a data plane: what it finds, and what it says it cannot. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedgerStore } from '@governance/data-plane/testing/test-ledger-store';
import { aDecision, anAlert } from '@governance/data-plane/testing/test-records';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { runVerifyLedger } from '@governance/verifier/verify-command';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const writer = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const [tenantId, stream] = [uuidv7(), uuidv7()];
let folder: string;
/** The records' lines, the batches' lines and the last record's position, as they are kept. */
let records: string[];
let batches: string[];
let head: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verify-ledger-'));
  const path = join(folder, 'data-plane.db');
  batches = [];
  for (const count of [25, 0, 7]) {
    const store = createLedgerStore({ path, signingKey: writer.privateKey, limitBytes: null });
    const timestamp = new Date().toISOString();
    const { streamNo } = store.openStream({ tenantId, stream, writerVersion: '1', timestamp });
    for (let n = 0; n < count; n++) {
      store.commitGroup([
        { streamNo, record: n % 2 ? anAlert({ title: `café ${n}` }) : aDecision(), salt: null },
      ]);
    }
    for (;;) {
      const batch = store.nextBatch(streamNo, 10);
      if (!batch) break;
      const { epoch, last_seq: seq, head: last } = batch.header;
      // As ledger_batches keeps it: the header is text.
      const { signature } = batch;
      batches.push(JSON.stringify({ header: canonicalize(batch.header), signature }));
      head = `${epoch}/${seq}/${last}`;
      store.commitGroup([{ streamNo, shipped: { epoch, seq, head: last } }]);
    }
    store.close();
  }
  const db = new Database(path, { readonly: true });
  // The query of docs/ledger-format.md.
  records = db
    .prepare<[], string>(
      'SELECT CAST(bytes AS TEXT) FROM records WHERE stream_no = 1 ORDER BY epoch, seq',
    )
    .pluck()
    .all()
    .flatMap((lines) => lines.split('\n'));
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Report {
  verified: boolean;
  breaks: { kind: string; epoch: number; seq: number }[];
  not_checked: string[];
}

interface Given {
  lines?: string[];
  head?: string;
  start?: string;
  batches?: string[];
  keys?: unknown;
  more?: string[];
}

async function run(given: Given) {
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const args = [
    file('records.ndjson', (given.lines ?? records).map((line) => `${line}\n`).join('')),
  ];
  if (given.head) args.push('--head', given.head);
  if (given.start) args.push('--start', given.start);
  if (given.batches) args.push('--batches', file('batches.ndjson', given.batches.join('\n')));
  if (given.keys) {
    const text = typeof given.keys === 'string' ? given.keys : JSON.stringify(given.keys);
    args.push('--keys', file('keys', text));
  }
  let output = '';
  let errors = '';
  const code = await runVerifyLedger([...args, ...(given.more ?? [])], {
    input: process.stdin,
    write: (text) => {
      output += text;
    },
    writeError: (text) => {
      errors += text;
    },
  });
  const report = (output.startsWith('{') ? JSON.parse(output) : {}) as Report;
  return { code, errors, ...report, kinds: report.breaks?.map(({ kind }) => kind) };
}

const jwk = () => writer.publicKey.export({ format: 'jwk' });
const whole = () => ({ head, batches, keys: jwk() });

/** Somebody who rewrites a record and every hash behind it. */
function rewritten(): string[] {
  let before: string | null = null;
  return records.map((line) => {
    const record = JSON.parse(line);
    if (before !== null) record.prev_hash = before;
    if (record.previous) record.previous.head = before;
    if (record.epoch === 1 && record.seq === 5) record.title = 'nothing happened';
    const text = canonicalize(record);
    before = recordHash(Buffer.from(text));
    return text;
  });
}

/** His batches over them, signed with a key of his own. */
function signedAnew(lines: string[]): string[] {
  return batches.map((text) => {
    const { v: _v, event_root: _root, ...header } = JSON.parse(JSON.parse(text).header);
    const own = lines.filter((line) => {
      const { epoch, seq } = JSON.parse(line);
      return epoch === header.epoch && seq >= header.first_seq && seq <= header.last_seq;
    });
    const hashes = own.map((line) => recordHash(Buffer.from(line)));
    const prev_head = JSON.parse(own[0] as string).prev_hash;
    const about = { ...header, prev_head, head: hashes.at(-1) };
    return JSON.stringify(signBatch(stranger.privateKey, about, hashes));
  });
}

describe('a whole stream', () => {
  it('verifies against head, batches and keys, and then nothing is left unchecked', async () => {
    const pem = writer.publicKey.export({ format: 'pem', type: 'spki' });
    for (const keys of [
      jwk(),
      { keys: [stranger.publicKey.export({ format: 'jwk' }), jwk()] },
      pem,
    ]) {
      expect(await run({ ...whole(), keys, more: ['--strict'] })).toMatchObject({
        code: 0,
        errors: '',
        verified: true,
        not_checked: [],
      });
    }
  });

  it('says for each missing input what cannot be checked without it', async () => {
    const bare = await run({});
    expect(bare).toMatchObject({ code: 0, verified: true });
    expect(bare.not_checked).toEqual([
      expect.stringContaining('no --head'),
      expect.stringContaining('no --batches'),
    ]);
    expect((await run({ more: ['--strict'] })).code).toBe(3);
    expect((await run({ head, batches })).not_checked).toEqual([
      expect.stringContaining('no --keys'),
    ]);
    expect((await run({ batches, keys: jwk() })).not_checked).toEqual([
      expect.stringContaining('behind the last batch'),
    ]);
    expect((await run({ ...whole(), batches: batches.slice(0, -1) })).not_checked).toEqual([
      expect.stringMatching(/^\d+ of \d+ records are under no batch, from 3\/\d+ on/),
    ]);
  });

  it('may begin in its middle, where the beginning was pruned', async () => {
    const lines = records.slice(5);
    const { epoch, seq } = JSON.parse(records[4] as string);
    const start = `${epoch}/${seq}/${recordHash(Buffer.from(records[4] as string))}`;
    expect(await run({ lines })).toMatchObject({ code: 1 });
    const report = await run({ lines, start, head });
    expect(report).toMatchObject({ code: 0, verified: true });
    expect(report.not_checked[0]).toContain('before --start');
    const other = start.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    expect(await run({ lines, start: other })).toMatchObject({ code: 1, kinds: ['link'] });
  });
});

describe('what was done to it', () => {
  it('an edit, a gap, a double and an exchange show by themselves', async () => {
    const edited = records.with(4, (records[4] as string).replace('café', 'cafe'));
    const swapped = records.with(3, records[4] as string).with(4, records[3] as string);
    for (const lines of [
      edited,
      records.toSpliced(3, 1),
      records.toSpliced(3, 0, records[3] as string),
      swapped,
      records.slice(1),
    ]) {
      expect(await run({ lines })).toMatchObject({ code: 1, verified: false });
    }
  });

  it('an end that was cut shows against a head, or a batch that covers it', async () => {
    const lines = records.slice(0, -3);
    const silent = await run({ lines });
    expect(silent).toMatchObject({ code: 0, verified: true });
    expect(silent.not_checked[0]).toContain('cut off at the end');
    expect(await run({ lines, head })).toMatchObject({ code: 1, kinds: ['head'] });
    expect(await run({ lines, batches, keys: jwk() })).toMatchObject({ code: 1, kinds: ['batch'] });
    const epochs = records.filter((line) => JSON.parse(line).epoch < 3);
    expect(await run({ lines: epochs, batches })).toMatchObject({ code: 1, kinds: ['batch'] });
  });

  it('a stream that was rewritten whole shows against its batches', async () => {
    const lines = rewritten();
    expect(await run({ lines })).toMatchObject({ code: 0, verified: true });
    const report = await run({ lines, batches, keys: jwk() });
    expect(report).toMatchObject({ code: 1 });
    expect(new Set(report.kinds)).toEqual(new Set(['batch']));
  });

  it('one that was rewritten and signed again is exposed by its writer’s key', async () => {
    const lines = rewritten();
    const forged = signedAnew(lines);
    const unsigned = await run({ lines, batches: forged });
    expect(unsigned).toMatchObject({ code: 0, verified: true });
    expect(unsigned.not_checked.join()).toContain('no --keys');
    const report = await run({ lines, batches: forged, keys: jwk() });
    expect(report).toMatchObject({ code: 1 });
    expect(new Set(report.kinds)).toEqual(new Set(['signature']));
  });

  it('a batch of another stream, or with a changed header, shows', async () => {
    const { header, signature } = JSON.parse(batches[0] as string);
    const changed = (over: object) =>
      JSON.stringify({ header: { ...JSON.parse(header), ...over }, signature });
    for (const over of [
      { stream: uuidv7() },
      { event_root: 'ab'.repeat(32) },
      { prev_head: 'ab'.repeat(32) },
      { last_seq: 9 },
    ]) {
      const given = { ...whole(), batches: batches.with(0, changed(over)) };
      const { code, kinds } = await run(given);
      expect([code, kinds?.includes('signature'), kinds?.includes('batch')]).toEqual([
        1,
        true,
        true,
      ]);
    }
  });
});

it('says what it cannot read, by exit code 2', async () => {
  for (const given of [
    { head: 'none' },
    { head: head.toUpperCase() },
    { batches: ['{}'] },
    { batches: [JSON.stringify({ header: ' {}', signature: '' })] },
    { batches, keys: 'nothing' },
    { batches, keys: { keys: [] } },
    {
      batches,
      keys: generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }),
    },
    { keys: jwk() },
    { more: ['--heads', head] },
    { more: ['another.ndjson'] },
  ]) {
    const { code, errors } = await run(given as Given);
    expect([code, errors === ''], JSON.stringify(given)).toEqual([2, false]);
  }
  expect(await run({ more: ['--help'] })).toMatchObject({ code: 0 });
});
