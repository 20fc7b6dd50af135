import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uuidv7 } from '../ids.ts';
import { BatchHeader, isBatchSignedBy, signBatch } from './audit-batch.ts';
import { merkleRoot } from './merkle.ts';

const writer = generateKeyPairSync('ed25519');
const hashes = ['11'.repeat(32), '22'.repeat(32)];
const { header, signature } = signBatch(
  writer.privateKey,
  {
    tenant_id: uuidv7(),
    stream: uuidv7(),
    epoch: 2,
    first_seq: 10,
    last_seq: 11,
    prev_head: '00'.repeat(32),
    head: '22'.repeat(32),
  },
  hashes,
);

describe('a signed batch', () => {
  it('has a complete header with the root of its records, and verifies', () => {
    expect(BatchHeader.parse(header)).toEqual(header);
    expect(header.event_root).toBe(merkleRoot(hashes));
    expect(isBatchSignedBy(writer.publicKey, header, signature)).toBe(true);
  });

  it('does not verify after any change of its header', () => {
    const changes: Partial<BatchHeader>[] = [
      { tenant_id: uuidv7() },
      { stream: uuidv7() },
      { epoch: 3 },
      { first_seq: 9 },
      { last_seq: 12 },
      { prev_head: '01'.repeat(32) },
      { head: '01'.repeat(32) },
      { event_root: '01'.repeat(32) },
    ];
    expect(changes).toHaveLength(Object.keys(header).length - 1);
    for (const change of changes) {
      expect(isBatchSignedBy(writer.publicKey, { ...header, ...change }, signature)).toBe(false);
    }
  });

  it('does not verify under another key or signature, and never throws', () => {
    const other = generateKeyPairSync('ed25519').publicKey;
    expect(isBatchSignedBy(other, header, signature)).toBe(false);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isBatchSignedBy(writer.publicKey, header, text)).toBe(false);
      }),
    );
    expect(isBatchSignedBy(writer.publicKey, header, `${signature}==`)).toBe(false);
    const broken = { ...header, epoch: Number.NaN };
    expect(isBatchSignedBy(writer.publicKey, broken, signature)).toBe(false);
  });
});
