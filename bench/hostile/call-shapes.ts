/** Arguments of calls, at any size: texts known to slow down those that read what they say. */
import { type Shape, times } from './shapes.ts';

const inJson = (made: Record<string, (size: number) => object>): Shape[] =>
  Object.entries(made).map(([name, make]) => ({
    name,
    make: (size) => Buffer.from(JSON.stringify(make(size))),
  }));

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, i) => make(i));

/** Files of one call that are read, at most; more escalate. */
const PATHS = 2_000;

/** Longer commands and queries are not read, and escalate. */
const READ = 16;

/** Paths, lists, queries and command lines. */
export const REACH_SHAPES: Shape[] = inJson({
  backslashes: (size) => ({ path: times('\\', size / 2) }),
  slashes: (size) => ({ path: times('/', size) }),
  'folders of one letter': (size) => ({ path: times('/a', size) }),
  'folders of blanks': (size) => ({ path: times('/ a ', size) }),
  parents: (size) => ({ path: times('../', size) }),
  'folders and their parents': (size) => ({ path: times('/a/..', size) }),
  'encoded slashes': (size) => ({ path: times('%2f', size) }),
  'slashes that are encoded three times': (size) => ({ path: times('%25252f', size) }),
  'many spellings with one beginning': (size) => ({
    path: `${times('/a', size)}%2525252541\u00a0"`,
  }),
  'a share': (size) => ({ path: `\\\\${times('\\a', size / 3)}` }),
  'wildcards in folders': (size) => ({ path: times('/*', size) }),
  'quotes around a path': (size) => ({ path: `/${times('"', size / 2)}` }),
  'NULs in a path': (size) => ({ path: times('/\0', size / 7) }),
  'letters that stand for many': (size) => ({ path: `/${times('ﷺ', size)}` }),
  'files in a long folder': (size) => ({
    cwd: `/${times('a', size)}`,
    paths: many(PATHS, (i) => `f${i}`),
  }),
  'files in a deep folder': (size) => ({
    cwd: times('/a', size),
    paths: many(PATHS, (i) => `f${i}`),
  }),
  'many files': (size) => ({ paths: many(size / 16, (i) => `/srv/a/${i}`) }),
  'ids between commas': (size) => ({ ids: times('a,', size) }),
  commas: (size) => ({ ids: times(',', size) }),
  'recipients between commas': (size) => ({ to: times('a@b.c,', size) }),
  'signs of addresses': (size) => ({ to: times('@', size) }),
  'headers of a mail': (size) => ({ raw: times('To: a@b.c\r\n', size) }),
  'semicolons of SQL': (size) => ({ sql: times(';', size) }),
  'open brackets of SQL': (size) => ({ sql: `DELETE FROM a WHERE ${times('(', size / READ)}` }),
  'open comments of SQL': (size) => ({ sql: times('/*', size) }),
  'conditions of SQL': (size) => ({ sql: `DELETE FROM a WHERE ${times('1=1 OR ', size / READ)}` }),
  'a long command': (size) => ({ command: times('a ', size / READ) }),
  'open substitutions': (size) => ({ command: times('$(', size / READ) }),
  'commands in a row': (size) => ({ command: times('rm a;', size / READ) }),
  'quotes of a command': (size) => ({ command: times(`'"`, size / READ) }),
  'JSON in JSON': (size) => ({ a: `[${times('"a",', size)}1]` }),
  'keys of their own': (size) => Object.fromEntries(many(size / 100, (i) => [`k${i}`, i])),
  'long keys': (size) =>
    Object.fromEntries(many(size / 8_000, (i) => [`${i}${times('aB', 8_000)}`, i])),
});

const CARD = '4111 1111 1111 1111';
const KEY = 'AKIAIOSFODNN7EXAMPLE';

/** Texts of which something is removed or hashed before they are kept, and others. */
export const KEPT_SHAPES: Shape[] = inJson({
  'a long text': (size) => ({ a: times('a', size) }),
  backslashes: (size) => ({ a: times('\\', size / 2) }),
  quotes: (size) => ({ a: times('"', size / 2) }),
  'line feeds': (size) => ({ a: times('\n', size / 2) }),
  blanks: (size) => ({ a: times(' ', size) }),
  NULs: (size) => ({ a: times('\0', size / 6) }),
  digits: (size) => ({ a: times('4111', size) }),
  'digits and dashes': (size) => ({ a: times('4-', size) }),
  'letters of three bytes': (size) => ({ a: times('€', size) }),
  'signs of two units': (size) => ({ a: times('😀', size) }),
  'signs of addresses': (size) => ({ a: times('@', size) }),
  'addresses without spaces': (size) => ({ a: times('a@b.c', size) }),
  addresses: (size) => ({ a: many(size / 16, (i) => `u${i}@example.com`).join(' ') }),
  'one card again and again': (size) => ({ a: times(`${CARD} `, size) }),
  keys: (size) => ({ a: times(`${KEY}\n`, size) }),
  'keys in texts of their own': (size) => ({ a: many(size / 32, (i) => `${KEY} ${i}`) }),
  'words before secrets': (size) => ({ a: times('password=', size) }),
  'hidden members': (size) => ({ a: many(size / 32, (i) => ({ secret: `value${i}` })) }),
  'one hidden text everywhere': (size) => ({ secret: 'value1', a: times('value1 ', size) }),
  'short hidden texts': (size) => ({
    a: many(size / 64, (i) => ({ secret: String(i) })),
    b: times('12345 ', size / 2),
  }),
  'a long hidden text': (size) => ({ secret: times('a', size / 2), a: times('a', size / 2) }),
  'names of the agent': (size) => ({ a: times('robot ', size) }),
  'beginnings of the agent’s name': (size) => ({ a: times('robo', size) }),
  'keys of their own': (size) => Object.fromEntries(many(size / 16, (i) => [`k${i}`, i])),
  'encoded text': (size) => ({ a: Buffer.from(times('a', (size * 3) / 4)).toString('base64') }),
  percents: (size) => ({ a: times('%41', size) }),
});
