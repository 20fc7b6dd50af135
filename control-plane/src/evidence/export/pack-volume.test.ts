import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { gunzip } from '@governance/shared/evidence/gunzip';
import { readUstar } from '@governance/shared/evidence/ustar';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, packVolume } from './pack-volume.ts';
import { createLineMember } from './package-members.ts';

const KIB = 1024;

function aMember(lines: readonly Buffer[]) {
  const bytes = Buffer.concat(lines);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name: 'events.ndjson', size: bytes.length, sha256, pieces: [...lines] };
}

async function packed(member: ReturnType<typeof aMember>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const { size, sha256 } = await packVolume([member], async (n, bytes) => {
    expect(n).toBe(pieces.length);
    pieces.push(Buffer.from(bytes));
  });
  for (const piece of pieces.slice(0, -1)) expect(piece.length).toBe(CHUNK_BYTES);
  const all = Buffer.concat(pieces);
  expect(size).toBe(all.length);
  expect(sha256).toBe(createHash('sha256').update(all).digest('hex'));
  return all;
}

/** Read in small pieces, so that the reader counts no byte before it needs it. */
async function unpackedHash(archive: Buffer, step: number): Promise<string> {
  const source = function* () {
    for (let at = 0; at < archive.length; at += step) yield archive.subarray(at, at + step);
  };
  const digest = createHash('sha256');
  const tar = gunzip(Readable.from(source()), VOLUME_LIMITS);
  for await (const { content } of readUstar(tar)) {
    for await (const piece of content) digest.update(piece);
  }
  return digest.digest('hex');
}

describe('a volume', () => {
  it('of one letter is within the limits of its verifier, and small', async () => {
    const member = aMember(Array.from({ length: 20 }, () => Buffer.alloc(512 * KIB, 'x')));
    const archive = await packed(member);
    expect(await unpackedHash(archive, 64)).toBe(member.sha256);
    expect(archive.length).toBeLessThan(member.size / 25);
  });

  it('beyond the limits of its verifier is refused, also by its last bytes', async () => {
    const noise = Array.from({ length: 63 }, () => randomBytes(1024 * KIB));
    // What it adds to the bytes is the archive's own.
    const room = 1024 * KIB - 32 * KIB;
    const fits = await packed(aMember([...noise, randomBytes(room)]));
    expect(fits.length).toBeLessThanOrEqual(VOLUME_LIMITS.packedBytes);
    for (const more of [1024 * KIB + 1, 2 * 1024 * KIB]) {
      const member = aMember([...noise, randomBytes(more)]);
      await expect(packVolume([member], async () => {})).rejects.toThrow(
        'more than a volume may have',
      );
    }
  });

  it('is within the limits of its verifier, whatever is in it and in which order', async () => {
    const Line = fc.record({
      kib: fc.integer({ min: 1, max: 1_500 }),
      kind: fc.constantFrom('letter', 'words', 'noise'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(Line, { minLength: 1, maxLength: 8 }), async (lines) => {
        const member = aMember(
          lines.map(({ kib, kind }) => {
            if (kind === 'noise') return randomBytes(kib * KIB);
            return Buffer.alloc(kib * KIB, kind === 'letter' ? 'x' : 'a line of the ledger 47\n');
          }),
        );
        expect(await unpackedHash(await packed(member), 512)).toBe(member.sha256);
      }),
      { numRuns: 15 },
    );
  });

  it('of ordinary records is packed as one gzip without stored parts', async () => {
    const member = createLineMember('events.ndjson');
    for (let n = 0; n < 20; n++) {
      member.write(
        Array.from(
          { length: 1_000 },
          (_, i) => `{"n":${n * i},"id":"${randomBytes(8).toString('hex')}"}`,
        ),
      );
    }
    const events = member.end() ?? expect.unreachable();
    expect((await packed(events)).length).toBeLessThan(events.size * 0.5);
  });

  it('ends with the error of what stores it', async () => {
    const member = aMember([randomBytes(3 * CHUNK_BYTES)]);
    const storing = packVolume([member], () => Promise.reject(new Error('the disk is full')));
    await expect(storing).rejects.toThrow('the disk is full');
  });
});
