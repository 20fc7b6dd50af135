/**
 * Computes the worked example of docs/ledger-format.md twice: with only the document's text,
 * node:crypto and JSON.parse, like a reader without other code, and with this product's code.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { assetPath } from '@governance/shared/process/assets';
import { describe, expect, it } from 'vitest';
import { createBatchWalk, parseBatch } from './verify-batches.ts';
import { verifyStream } from './verify-stream.ts';

const document = readFileSync(assetPath('docs/ledger-format.md'), 'utf8');
const example = document.slice(document.indexOf('## Worked example'));

/** The lines of the nth code block under a heading of the example. */
function block(heading: string, nth = 0): string[] {
  const section = example.split(/^### /m).find((part) => part.startsWith(`${heading}\n`));
  const found = [...(section ?? '').matchAll(/^```\w*\n([\s\S]*?)\n```$/gm)][nth]?.[1];
  if (!found) throw new Error(`the document has no block ${nth} under ${heading}`);
  return found.split('\n');
}

const one = (heading: string, nth = 0) => block(heading, nth)[0] as string;
const records = block('Records').map((line) => Buffer.from(line, 'utf8'));
const hashes = block('Hashes');

describe('with the document alone', () => {
  const sha256 = (...parts: Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest('hex');
  const hex = (text: string) => Buffer.from(text, 'hex');

  /** RFC 8785, as the document describes it. */
  function canonical(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
  }

  /** The recursive rule of the document. */
  function root(leaves: string[]): string {
    if (leaves.length === 1) return leaves[0] as string;
    let k = 1;
    while (k * 2 < leaves.length) k *= 2;
    return sha256(Buffer.of(1), hex(root(leaves.slice(0, k))), hex(root(leaves.slice(k))));
  }

  it('the records are canonical, have their hashes and follow each other', () => {
    let before = { epoch: 0, seq: 0, hash: '0'.repeat(64) };
    for (const [index, bytes] of records.entries()) {
      const record = JSON.parse(bytes.toString('utf8'));
      expect(canonical(record)).toBe(bytes.toString('utf8'));
      const hash = sha256(Buffer.of(0), bytes);
      expect(hash).toBe(hashes[index]);
      expect(record.prev_hash).toBe(before.hash);
      const starts = record.epoch !== before.epoch;
      expect([record.epoch, record.seq]).toEqual(
        starts ? [before.epoch + 1, 1] : [before.epoch, before.seq + 1],
      );
      expect(record.type === 'epoch_start').toBe(starts);
      if (starts) {
        const { epoch, seq: last_seq, hash: head } = before;
        expect(record.previous).toEqual(index === 0 ? null : { epoch, last_seq, head });
      }
      before = { epoch: record.epoch, seq: record.seq, hash };
    }
    expect(`${before.epoch}/${before.seq}/${before.hash}`).toBe(one('Head'));
  });

  it('the root is that of the hashes, and the signature is over the header', () => {
    const header = JSON.parse(one('Batch header'));
    expect(canonical(header)).toBe(one('Batch header'));
    const own = hashes.slice(0, 3);
    expect(sha256(Buffer.of(1), hex(own[0] as string), hex(own[1] as string))).toBe(
      one('Merkle root', 0),
    );
    expect(root(own)).toBe(one('Merkle root', 1));
    expect(header.event_root).toBe(root(own));
    expect(header).toMatchObject({ first_seq: 1, last_seq: 3, head: own[2] });
    const key = createPublicKey({ key: JSON.parse(one('Public key')), format: 'jwk' });
    const signature = Buffer.from(one('Signature'), 'base64url');
    expect(signature).toHaveLength(64);
    expect(verify(null, Buffer.from(one('Batch header')), key, signature)).toBe(true);
    expect(verify(null, Buffer.from(`${one('Batch header')} `), key, signature)).toBe(false);
  });

  it('names the tables and columns that there are', () => {
    const sqlite = readFileSync(assetPath('data-plane/src/ledger/ledger-schema.ts'), 'utf8');
    for (const table of ['streams', 'records', 'event_salts', 'open_decisions', 'shipped_marks']) {
      expect(sqlite).toContain(`CREATE TABLE ${table} (`);
      expect(document).toContain(`| \`${table}\` |`);
    }
    expect(sqlite).toContain('VERSION = 4;');
    const postgres = ['0001_init', '0002_two_planes']
      .map((name) => readFileSync(assetPath(`prisma/migrations/${name}/migration.sql`), 'utf8'))
      .join('');
    const rows = document.split('### The control plane')[1]?.matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
    let seen = 0;
    for (const [, table, columns] of rows ?? []) {
      const definition = postgres.split(`CREATE TABLE ${table} (`)[1]?.split('\n)')[0] ?? '';
      const named = [...(columns ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
      const values = ['quarantined', 'fork', 'unreadable', 'forbidden'];
      for (const column of named.filter((name) => !values.includes(name))) {
        expect(definition, `${table}.${column}`).toMatch(new RegExp(`^  ${column} `, 'm'));
      }
      seen++;
    }
    expect(seen).toBe(6);
  });
});

describe('with our own code', () => {
  it('the example verifies', async () => {
    expect(records.map(recordHash)).toEqual(hashes);
    for (const bytes of records) {
      expect(canonicalize(JSON.parse(bytes.toString('utf8')))).toBe(bytes.toString('utf8'));
    }
    expect(merkleRoot(hashes.slice(0, 3))).toBe(one('Merkle root', 1));
    const [epoch, seq, head] = one('Head').split('/');
    const batch = parseBatch(
      JSON.stringify({ header: one('Batch header'), signature: one('Signature') }),
    );
    const key = createPublicKey({ key: JSON.parse(one('Public key')), format: 'jwk' });
    const walk = createBatchWalk([batch], [key]);
    const report = await verifyStream(
      records.map((bytes) => ({ bytes })),
      { head: { epoch: Number(epoch), seq: Number(seq), head: head as string }, batches: walk },
    );
    expect(report).toMatchObject({ verified: true, records: 4, epochs: 2, breaks: [] });
    expect(walk.uncovered()).toEqual({ records: 1, first: { epoch: 2, seq: 1 } });
  });
});
