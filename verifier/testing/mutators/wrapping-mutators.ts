/** The wrapping of an archive: other encodings of gzip, bombs, and the JSON document. */
import { crc32, deflateRawSync, gzipSync, constants as zlib } from 'node:zlib';
import { EVIDENCE_MEMBERS } from '@governance/shared/evidence/evidence-package';
import { USTAR_END, ustarHeader } from '@governance/shared/evidence/ustar';
import { archiveOf, jsonOf, packMembers } from '../package-builder.ts';
import { contentOf, packed, signChanged, withContent } from './members.ts';
import type { Base, Mutated, Mutator } from './mutator.ts';
import { mutateBytes, pick, type Random, withByte } from './random.ts';

const HEADER = Buffer.from('1f8b0800000000000003', 'hex');
const MIB = 1024 * 1024;

function trailerOf(archive: Buffer): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(archive), 0);
  trailer.writeUInt32LE(archive.length % 2 ** 32, 4);
  return trailer;
}

/**
 * The same members, however they are compressed and whatever a plain header says about time and
 * system.
 */
const gzipAsGood: Mutator = {
  name: 'non-canonical gzip: the same members',
  mutate: ({ members }, random) => {
    const archive = archiveOf(members);
    const strategy = pick([zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE], random);
    const ways: (() => Buffer)[] = [
      () => gzipSync(archive, { level: random(10) }),
      () => gzipSync(archive, { strategy, memLevel: 1 + random(9), windowBits: 9 + random(7) }),
      () => {
        const bytes = gzipSync(archive);
        // Time, extra flags and system: six bytes unrelated to the members.
        return withByte(bytes, 4 + random(6), 1 + random(255));
      },
    ];
    return { bytes: pick(ways, random)() };
  },
};

const FLAGS = { text: 1, headerCrc: 2, extra: 4, name: 8, comment: 16 } as const;

/** A header with fields that most readers skip. */
function headerWith(flags: number): Buffer {
  const parts = [withByte(HEADER, 3, flags)];
  if (flags & FLAGS.extra) parts.push(Buffer.from([4, 0, 0x41, 0x42, 0, 0]));
  if (flags & FLAGS.name) parts.push(Buffer.from('evidence.tar\0'));
  if (flags & FLAGS.comment) parts.push(Buffer.from('another package\0'));
  const header = Buffer.concat(parts);
  if (!(flags & FLAGS.headerCrc)) return header;
  const check = Buffer.alloc(2);
  check.writeUInt16LE(crc32(header) & 0xffff);
  return Buffer.concat([header, check]);
}

const gzip: Mutator = {
  name: 'non-canonical gzip',
  mutate: ({ members }, random, bases) => {
    const archive = archiveOf(members);
    const body = deflateRawSync(archive, { level: 1 });
    const trailer = trailerOf(archive);
    const whole = Buffer.concat([HEADER, body, trailer]);
    const half = archive.length >> 1;
    const other = pick(bases, random);
    const ways: (() => Buffer)[] = [
      () => Buffer.concat([headerWith(1 + random(31)), body, trailer]),
      () => Buffer.concat([withByte(HEADER, 3, 0x20 << random(3)), body, trailer]),
      () => Buffer.concat([whole, gzipSync(EMPTY)]),
      () => Buffer.concat([gzipSync(EMPTY), whole]),
      () => Buffer.concat([whole, packMembers(other.members)]),
      () => Buffer.concat([gzipSync(archive.subarray(0, half)), gzipSync(archive.subarray(half))]),
      () => Buffer.concat([whole, Buffer.alloc(1 + random(600))]),
      () => Buffer.concat([HEADER, body, withByte(trailer, random(8), 1 + random(255))]),
      () => Buffer.concat([HEADER, body, trailerOf(EMPTY)]),
      () => Buffer.concat([HEADER, body]),
      () => Buffer.concat([withByte(HEADER, random(3), 1 + random(255)), body, trailer]),
      () => whole.subarray(0, random(whole.length)),
      () => Buffer.concat([Buffer.from(' '), whole]),
      () => gzipSync(whole),
    ];
    return { bytes: pick(ways, random)() };
  },
};

const EMPTY = Buffer.alloc(0);
/** A mebibyte of zeros, which another can follow. */
const ZEROS = deflateRawSync(Buffer.alloc(MIB), { level: 9, finishFlush: zlib.Z_FULL_FLUSH });

/**
 * An archive's beginning, then this many mebibytes of zeros, which end like a gzip or are cut off.
 */
function zeros(start: Buffer, mebibytes: number): Buffer {
  const first = deflateRawSync(start, { finishFlush: zlib.Z_FULL_FLUSH });
  const body = Array.from({ length: mebibytes }, () => ZEROS);
  return Buffer.concat([HEADER, first, ...body, deflateRawSync(EMPTY), Buffer.alloc(8)]);
}

const bombs: Mutator = {
  name: 'bombs: what unpacks to too much',
  mutate: ({ members }, random) => {
    const archive = archiveOf(members);
    const count = 16 + random(60);
    const [[name]] = members as [[string, Buffer]];
    const whole = archive.subarray(0, -USTAR_END.length);
    const size = count * MIB;
    const ways: (() => Buffer)[] = [
      () => zeros(archive, count),
      () => zeros(whole, count),
      () => zeros(ustarHeader(name, size), count),
      () => zeros(Buffer.concat([whole, ustarHeader(EVIDENCE_MEMBERS.witness, size)]), count),
      () => zeros(EMPTY, count),
      () => zeros(ustarHeader(name, 0o77777777777), 1 + random(20)),
    ];
    return { bytes: pick(ways, random)() };
  },
};

/** Content that costs a reader more than its size suggests. */
const shapes: Mutator = {
  name: 'bombs: what is nested, long or many',
  mutate: (base, random): Mutated | undefined => {
    const { members } = base;
    const deep = 33 + random(20_000);
    const ways: (() => string)[] = [
      () => `${'['.repeat(deep)}${']'.repeat(deep)}`,
      () => `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
      () => `[${'0,'.repeat(200_000)}0]`,
      () => `{"${'k'.repeat(8_193 + random(100_000))}":1}`,
      () => '9'.repeat(41 + random(100_000)),
      () => `1e${'9'.repeat(1 + random(38))}`,
      () => `"${'\\u0000'.repeat(1 + random(10_000))}`,
      () => `"${'x'.repeat(MIB + random(1_000))}"`,
    ];
    const text = pick(ways, random)();
    const name = pick(members.slice(1), random)[0];
    const content = contentOf(members, name) ?? EMPTY;
    const isOfLines = name.endsWith('.ndjson');
    const bomb = isOfLines ? Buffer.concat([content, Buffer.from(`${text}\n`)]) : Buffer.from(text);
    if (random(4) > 0) return signChanged(base, withContent(members, name, bomb));
    const first = members[0]?.[0] ?? '';
    return packed(withContent(members, first, Buffer.from(text)));
  },
};

const many: Mutator = {
  name: 'bombs: too many members',
  mutate: (base, random) => {
    const notes = base.members.filter(([name]) => name.startsWith('checkpoints/'));
    const [, note] = pick(notes, random);
    const at = base.members.findIndex(([name]) => name.startsWith('checkpoints/'));
    const more = Array.from({ length: 65 + random(100) }, (_, i): [string, Buffer] => [
      `checkpoints/${1_000 + i}.note`,
      note,
    ]);
    return packed(base.members.toSpliced(at, 0, ...more));
  },
};

function escapeOne(text: string, random: Random): string {
  const places = [...text.matchAll(/[a-z]/g)];
  const { index } = pick(places, random);
  const code = text.charCodeAt(index).toString(16).padStart(4, '0');
  // Not after a backslash, where it is already an escape.
  if (text[index - 1] === '\\' || /\\u[0-9a-f]{0,3}$/.test(text.slice(0, index))) return text;
  return `${text.slice(0, index)}\\u${code}${text.slice(index + 1)}`;
}

const documentAsGood: Mutator = {
  name: 'JSON document: the same members',
  mutate: ({ members }, random) => {
    const text = jsonOf(members).toString('utf8');
    const parsed: unknown = JSON.parse(text);
    const [beginning, rest] = [text.slice(0, 11), text.slice(11)];
    const ways: (() => string)[] = [
      () => text,
      () => JSON.stringify(parsed, null, 1 + random(4)),
      () => `${text}${pick([' ', '\n', '\r\n', '\t'], random)}`,
      () => `${beginning}${escapeOne(rest, random)}`,
    ];
    return { bytes: Buffer.from(pick(ways, random)()) };
  },
};

const document: Mutator = {
  name: 'JSON document',
  mutate: ({ members }, random, bases) => {
    const good = jsonOf(members);
    const text = good.toString('utf8');
    const [name] = pick(members, random);
    const [, theirs] = pick(pick(bases, random).members, random);
    const other = JSON.stringify(theirs.toString('utf8'));
    const ways: (() => string)[] = [
      () => text.replace('{', '{"format":"agent-governance-evidence/v1+json",'),
      () => text.replace('{', '{"other":1,'),
      () => text.replace('{', '{"__proto__":{},'),
      () => text.replace('"members":{', `"members":{${JSON.stringify(name)}:${other},`),
      () => text.replace('"members":{', `"members":{${JSON.stringify('x'.repeat(200))}:"",`),
      () => text.replace('"members":{', '"members":{"__proto__":"",'),
      () => text.replace('"members":{', '"members":{"7":"",'),
      () => text.replace('"members":{', '"members":{},"members":{'),
      () => text.replace('v1+json', 'v2+json'),
      () => text.replace('":"', '":"\\ud800'),
      () => text.replace(/.$/, `,"members":${'['.repeat(1_000)}}`),
      () => `\ufeff${text}`,
      () => `${text}${text}`,
      () => text.slice(0, random(text.length)),
    ];
    if (random(2) === 0) return { bytes: Buffer.from(pick(ways, random)()) };
    const edited = mutateBytes(good, random);
    return isSameDocument(good, edited) ? undefined : { bytes: edited };
  },
};

/** Whether an edit only concerned blanks. */
function isSameDocument(good: Buffer, edited: Buffer): boolean {
  try {
    const [one, other]: unknown[] = [good, edited].map((bytes) => JSON.parse(String(bytes)));
    return JSON.stringify(one) === JSON.stringify(other);
  } catch {
    return false;
  }
}

const packedBytes: Mutator = {
  name: 'bytes of the package',
  mutate: (base: Base, random) => {
    const good = packMembers(base.members);
    const edited = mutateBytes(good, random);
    if (edited.equals(good)) return undefined;
    return { bytes: edited };
  },
};

export const WRAPPING_MUTATORS: readonly Mutator[] = [
  gzipAsGood,
  gzip,
  bombs,
  shapes,
  many,
  documentAsGood,
  document,
  packedBytes,
];
