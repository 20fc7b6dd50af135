/**
 * Archives that other readers accept: links, paths, other encodings of headers, padding and ends.
 */
import { gzipSync } from 'node:zlib';
import { USTAR_END, ustarHeader, ustarPadding } from '@governance/shared/evidence/ustar';
import type { Members } from '../package-builder.ts';
import type { Base, Mutator } from './mutator.ts';
import { mutateBytes, pick, type Random, withByte } from './random.ts';

const BLOCK = 512;

/** Where the fields of a header are (POSIX.1-1988). */
const FIELDS = {
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  typeflag: [156, 1],
  linkname: [157, 100],
  magic: [257, 8],
  uname: [265, 32],
  gname: [297, 32],
  devmajor: [329, 8],
  prefix: [345, 155],
  rest: [500, 12],
} as const;
type Field = keyof typeof FIELDS;

/** A header with changed fields and a matching checksum. */
function headerOf(
  name: string,
  size: number,
  fields: Partial<Record<Field, string | Buffer>> = {},
): Buffer {
  const isPlain = /^[\x21-\x7e]{1,100}$/.test(name);
  const block = ustarHeader(isPlain ? name : 'x', size);
  if (!isPlain) {
    block.fill(0, 0, 100);
    block.write(name, 0, 100, 'utf8');
  }
  for (const [field, value] of Object.entries(fields) as [Field, string | Buffer][]) {
    const [at, length] = FIELDS[field];
    block.fill(0, at, at + length);
    Buffer.from(value).copy(block, at, 0, length);
  }
  if (fields.checksum === undefined) {
    block.write('        ', 148);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  }
  return block;
}

interface Entry {
  header: Buffer;
  content: Buffer;
}

const entriesOf = (members: Members): Entry[] =>
  members.map(([name, content]) => ({ header: headerOf(name, content.length), content }));

function packEntries(entries: readonly Entry[], end: Buffer = USTAR_END): Buffer {
  const blocks = entries.flatMap(({ header, content }) => [
    header,
    content,
    ustarPadding(content.length),
  ]);
  return gzipSync(Buffer.concat([...blocks, end]), { level: 1 });
}

/** Inserts an entry between the others, or replaces one. */
function withEntry(base: Base, entry: Entry, random: Random): Buffer {
  const entries = entriesOf(base.members);
  const at = random(entries.length + 1);
  return packEntries(entries.toSpliced(at, random(2), entry));
}

const EMPTY = Buffer.alloc(0);
/** Hard and symbolic links, devices, folders, fifos, contiguous and sparse files. */
const LINK_TYPES = ['1', '2', '3', '4', '5', '6', '7', 'S', '\0'];

const links: Mutator = {
  name: 'links',
  mutate: (base, random) => {
    const [name, content] = pick(base.members, random);
    const [target] = pick(base.members, random);
    const linkname = pick([target, '/etc/passwd', '../events.ndjson', '.', ''], random);
    const typeflag = pick(LINK_TYPES, random);
    const isOfOwn = random(2) === 0;
    const held = random(2) === 0 ? content : EMPTY;
    const header = headerOf(isOfOwn ? name : 'checkpoints/1.note', held.length, {
      typeflag,
      linkname,
    });
    if (!isOfOwn) return { bytes: withEntry(base, { header, content: held }, random) };
    const at = base.members.findIndex(([own]) => own === name);
    return { bytes: packEntries(entriesOf(base.members).with(at, { header, content: held })) };
  },
};

const pathsTo = (name: string): string[] => [
  `../${name}`,
  `./${name}`,
  `/${name}`,
  `//${name}`,
  `checkpoints/../${name}`,
  `checkpoints\\..\\${name}`,
  `${name}/`,
  `${name}/.`,
  `${name}\u0000.txt`,
  `${name} `,
  ` ${name}`,
  `${name}\n`,
  name.toUpperCase(),
  name.replace('.', '\u2024'),
  `%2e%2e/${name}`,
  'checkpoints/010.note',
  'checkpoints/-1.note',
  'checkpoints/1e1.note',
  'checkpoints/99999999999999999999.note',
  'checkpoints/.note',
  '/etc/passwd',
  'C:\\keys.json',
  'a/'.repeat(49),
  '',
];

const traversal: Mutator = {
  name: 'traversal',
  mutate: (base, random) => {
    const at = random(base.members.length);
    const [name, content] = base.members[at] as Members[number];
    const header =
      random(4) === 0
        ? headerOf(name, content.length, { prefix: pick(['..', '/', '/tmp', 'a/../..'], random) })
        : headerOf(pick(pathsTo(name), random), content.length);
    const entries = entriesOf(base.members);
    const isAdded = random(2) === 0;
    const entry = { header, content };
    return {
      bytes: packEntries(isAdded ? entries.toSpliced(at, 0, entry) : entries.with(at, entry)),
    };
  },
};

/** Fields that encode the same value differently, or that no reader uses. */
function otherWriting(size: number, random: Random): Partial<Record<Field, string | Buffer>> {
  const octal = size.toString(8);
  const binary = Buffer.alloc(12);
  binary[0] = 0x80;
  binary.writeUInt32BE(size, 8);
  const ways: Partial<Record<Field, string | Buffer>>[] = [
    { mode: '0000755\0' },
    { mode: '644 \0' },
    { uid: '0001750\0' },
    { gid: '0001750\0' },
    { mtime: '14000000000\0' },
    { size: `${octal.padStart(11, ' ')}\0` },
    { size: `${octal}\0` },
    { size: `${octal.padStart(11, '0')} ` },
    { size: `${octal.padStart(12, '0')}` },
    { size: binary },
    { size: `${(size + 1).toString(8).padStart(11, '0')}\0` },
    { typeflag: '\0' },
    { magic: 'ustar  \0' },
    { magic: '\0\0\0\0\0\0\0\0' },
    { magic: 'ustar\u000001' },
    { uname: 'root' },
    { gname: 'root' },
    { devmajor: '0000000\0' },
    { rest: 'x' },
    { linkname: 'x' },
    { prefix: '\0x' },
    { checksum: '0000000\0' },
    { checksum: '        ' },
  ];
  return pick(ways, random);
}

const tar: Mutator = {
  name: 'non-canonical tar: headers',
  mutate: (base, random) => {
    const at = random(base.members.length);
    const [name, content] = base.members[at] as Members[number];
    const header = headerOf(name, content.length, otherWriting(content.length, random));
    return { bytes: packEntries(entriesOf(base.members).with(at, { header, content })) };
  },
};

/** A PAX or GNU tar record that gives the next entry's name or size. */
function extension(name: string, random: Random): Entry {
  const [typeflag, text] = pick(
    [
      ['x', `${String(15 + name.length).padStart(2, '0')} path=../${name}\n`],
      ['x', '30 mtime=1767323045.123456789\n'],
      ['x', '11 size=10\n'],
      ['g', '19 comment=harmless\n'],
      ['L', `../${name}\0`],
      ['K', '/etc/passwd\0'],
      ['V', 'a volume'],
    ] as const,
    random,
  );
  const content = Buffer.from(text);
  return { header: headerOf('././@LongLink', content.length, { typeflag }), content };
}

const extensions: Mutator = {
  name: 'non-canonical tar: extension records',
  mutate: (base, random) => {
    const at = random(base.members.length);
    const [name] = base.members[at] as Members[number];
    const entries = entriesOf(base.members);
    return { bytes: packEntries(entries.toSpliced(at, 0, extension(name, random))) };
  },
};

const ends: Mutator = {
  name: 'non-canonical tar: padding and end',
  mutate: (base, random) => {
    const entries = entriesOf(base.members);
    const [name, content] = pick(base.members, random);
    const again = { header: headerOf(name, content.length), content };
    const [first, ...others] = entries as [Entry, ...Entry[]];
    const ways: (() => Buffer)[] = [
      () => packEntries(entries, EMPTY),
      () => packEntries(entries, Buffer.alloc(BLOCK)),
      () => packEntries(entries, Buffer.alloc(3 * BLOCK)),
      () => packEntries(entries, Buffer.alloc(20 * BLOCK)),
      () => packEntries(entries, Buffer.alloc(2 * BLOCK + 1 + random(BLOCK - 1))),
      () => packEntries(entries, withByte(USTAR_END, random(USTAR_END.length), 1 + random(255))),
      () => packEntries(entries, Buffer.concat([USTAR_END, Buffer.from('x')])),
      // What other readers take for a second archive, or ignore.
      () => packEntries(entries, Buffer.concat([USTAR_END, again.header, content, USTAR_END])),
      () => packEntries([{ header: EMPTY, content: Buffer.alloc(BLOCK) }, ...entries]),
      () => {
        const padding = ustarPadding(first.content.length);
        if (padding.length === 0) return packEntries(entries, EMPTY);
        const dirty = withByte(padding, random(padding.length), 1 + random(255));
        const whole = Buffer.concat([first.content, dirty]);
        return packEntries([{ header: first.header, content: whole }, ...others]);
      },
    ];
    return { bytes: pick(ways, random)() };
  },
};

const archiveBytes: Mutator = {
  name: 'bytes of the archive',
  mutate: (base, random) => {
    const whole = Buffer.concat(
      entriesOf(base.members).flatMap(({ header, content }) => [
        header,
        content,
        ustarPadding(content.length),
      ]),
    );
    const archive = Buffer.concat([whole, USTAR_END]);
    const edited = mutateBytes(archive, random);
    return edited.equals(archive) ? undefined : { bytes: gzipSync(edited, { level: 1 }) };
  },
};

export const ARCHIVE_MUTATORS: readonly Mutator[] = [
  links,
  traversal,
  tar,
  extensions,
  ends,
  archiveBytes,
];
