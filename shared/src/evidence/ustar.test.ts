import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Header } from 'tar';
import { describe, expect, it } from 'vitest';
import { gunzip, TooLargeError } from './gunzip.ts';
import { ArchiveError, readUstar, USTAR_END, ustarHeader, ustarPadding } from './ustar.ts';

const archiveOf = (members: [string, Buffer][]) =>
  Buffer.concat([
    ...members.flatMap(([name, content]) => [
      ustarHeader(name, content.length),
      content,
      ustarPadding(content.length),
    ]),
    USTAR_END,
  ]);

function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const sourceOf = (bytes: Buffer, size = 1000) => Readable.from(pieces(bytes, size));

async function read(source: AsyncIterable<Uint8Array>) {
  const members: [string, string][] = [];
  for await (const { name, content } of readUstar(source)) {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    members.push([name, Buffer.concat(parts).toString('latin1')]);
  }
  return members;
}

describe('ustar', () => {
  it('is read back however it is cut', async () => {
    const names = fc.stringMatching(/^[a-z./]{1,100}$/);
    const contents = fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(names, contents), { maxLength: 5 }),
        fc.integer({ min: 1, max: 2000 }),
        async (members, size) => {
          const expected = members.map(([name, content]) => [name, content.toString('latin1')]);
          expect(await read(sourceOf(archiveOf(members), size))).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is a plain file to other readers', () => {
    const header = new Header(ustarHeader('events.ndjson', 1234), 0);
    expect(header).toMatchObject({ path: 'events.ndjson', size: 1234, mode: 0o644, uid: 0 });
    expect([header.type, header.cksumValid]).toEqual(['File', true]);
  });

  it('is refused after any change of one byte of a header, of padding or of the end', async () => {
    const archive = archiveOf([['keys.json', Buffer.from('{}')]]);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(archive.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, bits) => {
          fc.pre(at < 512 || at >= 514);
          const edited = Buffer.from(archive);
          edited[at] = (edited[at] as number) ^ bits;
          await expect(read(sourceOf(edited))).rejects.toThrow(ArchiveError);
        },
      ),
    );
  });

  it('is refused when it is cut off, and when something follows', async () => {
    const archive = archiveOf([['keys.json', Buffer.from('{}')]]);
    for (let at = 0; at < archive.length; at += 128) {
      await expect(read(sourceOf(archive.subarray(0, at)))).rejects.toThrow(ArchiveError);
    }
    const longer = Buffer.concat([archive, Buffer.alloc(1)]);
    await expect(read(sourceOf(longer))).rejects.toThrow('something follows');
  });
});

describe('gunzip', () => {
  const limits = { packedBytes: 1e6, unpackedBytes: 1e7, ratio: 100 };
  const unpack = async (packed: Buffer, given = limits, size = 1000) => {
    const parts: Buffer[] = [];
    for await (const part of gunzip(sourceOf(packed, size), given)) parts.push(part);
    return Buffer.concat(parts);
  };
  const text = Buffer.from('a line of the ledger\n'.repeat(5000));

  it('unpacks what is one member, however it is cut', async () => {
    const streamed = await new Response(
      Readable.toWeb(Readable.from([text]).pipe(createGzip())) as ReadableStream,
    ).arrayBuffer();
    for (const size of [1, 7, 1e6]) {
      expect(await unpack(gzipSync(text), limits, size)).toEqual(text);
      expect(await unpack(Buffer.from(streamed), limits, size)).toEqual(text);
    }
    expect(await unpack(gzipSync(''))).toEqual(Buffer.alloc(0));
  });

  it('refuses a second member, something behind, a wrong checksum, and what is cut off', async () => {
    const packed = gzipSync(text);
    const wrong = Buffer.from(packed);
    wrong[wrong.length - 8] = (wrong[wrong.length - 8] as number) ^ 1;
    const named = Buffer.from(packed);
    named[3] = 8;
    for (const bytes of [
      Buffer.concat([packed, packed]),
      Buffer.concat([packed, Buffer.from('x')]),
      wrong,
      named,
      packed.subarray(0, -1),
      packed.subarray(0, 100),
      packed.subarray(0, 4),
      Buffer.from('no gzip at all'),
    ]) {
      await expect(unpack(bytes)).rejects.toThrow(ArchiveError);
    }
  });

  it('stops at its limits', async () => {
    const bomb = gzipSync(Buffer.alloc(4_000_000));
    await expect(unpack(bomb)).rejects.toThrow(TooLargeError);
    const ratio = 100_000;
    await expect(unpack(bomb, { ...limits, ratio, unpackedBytes: 1e6 })).rejects.toThrow(
      'unpacks to too much',
    );
    await expect(unpack(gzipSync(text), { ...limits, packedBytes: 10 })).rejects.toThrow(
      TooLargeError,
    );
  });
});
