/** Bytes that an attacker could send, at any size: shapes known to slow down readers. */

export interface Shape {
  name: string;
  /** Returns about `size` bytes. */
  make(size: number): Buffer;
}

export const times = (unit: string, size: number) =>
  unit.repeat(Math.max(1, Math.floor(size / Buffer.byteLength(unit))));
const list = (unit: string, size: number) => `[${times(`${unit},`, size)}${unit}]`;

/** Distinct members, each made from its number. */
function members(size: number, member: (i: number) => string): string[] {
  const made: string[] = [];
  for (let length = 0; length < size; length += (made.at(-1) as string).length + 1) {
    made.push(member(made.length));
  }
  return made;
}

const object = (size: number, member: (i: number) => string) =>
  `{${members(size, member).join(',')}}`;

const texts = (made: Record<string, (size: number) => string>): Shape[] =>
  Object.entries(made).map(([name, make]) => ({ name, make: (size) => Buffer.from(make(size)) }));

/** A list of distinct values of this many bytes each. */
const spread = (width: number, size: number, value: (i: number) => string) =>
  `[${members(size, (i) => value(i).padEnd(width)).join(',')}]`;

/** Distinct decimals of 17 digits. */
const decimal = (i: number) => String(((i * 7919 + 1) % 999_983) / 1_000_003);

/**
 * JSON values, whole and broken. At full density most have more values than any limit allows and
 * are refused early; the spread-out ones stay just below the limits and are read in full.
 */
export const JSON_SHAPES: Shape[] = texts({
  'spread keys': (size) => object(size, (i) => `"k${i}":1`.padEnd(219)),
  'spread keys, twice as dense': (size) => object(size, (i) => `"k${i}":1`.padEnd(109)),
  'spread keys with escapes': (size) => object(size, (i) => `"\\u0061k${i}":1`.padEnd(109)),
  'spread objects of their own keys': (size) => spread(329, size, (i) => `{"k${i}":1}`),
  'spread objects of their own keys, denser': (size) => spread(164, size, (i) => `{"k${i}":1}`),
  'spread decimals of 17 digits': (size) => spread(54, size, decimal),
  'spread decimals with zeros': (size) => spread(54, size, (i) => decimal(i).padEnd(38, '0')),
  'spread texts': (size) => spread(54, size, (i) => `"\\n${i}"`),
  'a long decimal': (size) => `[0.1${times('0', size)}1]`,
  'a long integer': (size) => `[${times('9', size)}]`,
  'a long exponent': (size) => `[1e${times('0', size)}1]`,
  'minus signs': (size) => `[${times('-', size)}`,
  'many decimals': (size) => list('0.1234567890123457', size),
  'many zeros': (size) => list('0.10000000000000', size),
  'many integers': (size) => list('1', size),
  'empty arrays': (size) => list('[]', size),
  'empty objects': (size) => list('{}', size),
  'arrays 50 deep': (size) => list(`${'['.repeat(50)}${']'.repeat(50)}`, size),
  'objects 40 deep': (size) => list(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, size),
  'opened and never closed': (size) => times('[', size),
  'objects never closed': (size) => times('{"a":', size),
  'many keys': (size) => object(size, (i) => `"k${i}":1`),
  'keys like indexes': (size) => object(size, (i) => `"${i * 4096}":1`),
  'keys of equal hash': (size) => object(size, (i) => `"${(i * 65_536) % 16_777_216}${i}":1`),
  'one key again and again': (size) => object(size, () => '"a":1'),
  'a long key': (size) => `{"${times('a', size)}":1}`,
  'objects of their own keys': (size) => `[${members(size, (i) => `{"k${i}":1}`).join(',')}]`,
  'a long text': (size) => `["${times('a', size)}"]`,
  'escaped quotes': (size) => `["${times('\\"', size)}"]`,
  backslashes: (size) => `["${times('\\\\', size)}"]`,
  'a text of backslashes without an end': (size) => `["${times('\\', size)}`,
  'escaped letters': (size) => `["${times('\\u0061', size)}"]`,
  'escaped NULs': (size) => `["${times('\\u0000', size)}"]`,
  'letters of three bytes': (size) => `["${times('€', size)}"]`,
  'white space': (size) => `[${times(' \n', size)}1]`,
  commas: (size) => `[${times(',', size)}`,
  colons: (size) => `{${times(':', size)}`,
  quotes: (size) => times('"', size),
});

/** Input that is read by lines, cut anywhere. */
export const LINE_SHAPES: Shape[] = texts({
  'line feeds': (size) => times('\n', size),
  'carriage returns': (size) => times('\r', size),
  'line feeds before a carriage return': (size) => `${times('\n', size)}\r`,
  'both ends of lines': (size) => times('\r\n', size),
  'one line': (size) => `data: ${times('a', size)}`,
  'one comment': (size) => `:${times('a', size)}`,
  'short comments': (size) => times(':\n', size),
  'fields that nobody knows': (size) => times('a:b\n', size),
  'fields without a value': (size) => times('a\n', size),
  'data of nothing': (size) => times('data\n', size),
  'short data': (size) => times('data:x\n', size),
  'events of nothing': (size) => times('data:\n\n', size),
  'events that are no JSON': (size) => times('data:x\n\n', size),
  'events of a notification': (size) => times('data:{"jsonrpc":"2.0","method":"a"}\n\n', size),
  ids: (size) => times('id: 1\n', size),
  'a long id': (size) => `id:${times('1', size)}\n`,
  'times to retry': (size) => times('retry:1\n', size),
  'a long time to retry': (size) => `retry:${times('1', size)}\n`,
  'a notification a line': (size) => times('{"jsonrpc":"2.0","method":"a"}\n', size),
  'a bad line each': (size) => times('{\n', size),
  'an empty batch a line': (size) => times('[]\n', size),
  'a record of nothing a line': (size) => times('{}\n', size),
});

const encoded = (text: string) => Buffer.from(text).toString('base64url');
/** Three bytes become four characters of base64. */
const within = (size: number) => Math.floor((size * 3) / 4);

/** Texts that repeat one kind of character. */
export const TEXT_SHAPES: Shape[] = texts({
  dots: (size) => times('.', size),
  'equal signs': (size) => times('=', size),
  'letters and equal signs': (size) => times('a=', size),
  letters: (size) => times('a', size),
  slashes: (size) => `${times('/', size)}x`,
  colons: (size) => Buffer.from(times(':', within(size))).toString('base64'),
  percents: (size) => Buffer.from(`a:${times('%', within(size))}`).toString('base64'),
  plusses: (size) => Buffer.from(`a:${times('+', within(size))}`).toString('base64'),
  blanks: (size) => `${times(' ', size)}a`,
  commas: (size) => times('a,', size),
});

/** Allowed in a header: no control characters. */
export const TOKEN_SHAPES: Shape[] = [
  ...JSON_SHAPES.filter(({ name }) => name !== 'white space').map(({ name, make }) => ({
    name: `token: ${name}`,
    make: (size: number) =>
      Buffer.from(`${encoded(make(within(size)).toString())}.${encoded('{}')}.AAAA`),
  })),
  ...TEXT_SHAPES,
];
