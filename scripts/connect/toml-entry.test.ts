import type { ClientEntry } from '@governance/shared/mcp/mcp-clients';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasTomlEntry, removeTomlEntry, setTomlEntry } from './toml-entry.ts';

const ENTRY: ClientEntry = {
  ...{ url: 'https://g.example/mcp/v1', http_headers: { Authorization: 'Basic x' } },
};
const TABLE = `[mcp_servers.ours]
url = "https://g.example/mcp/v1"
http_headers = { Authorization = "Basic x" }
`;
const set = (text: string) => setTomlEntry(text, 'mcp_servers', 'ours', ENTRY);
const has = (text: string) => hasTomlEntry(text, 'mcp_servers', 'ours');
const remove = (text: string) => removeTomlEntry(text, 'mcp_servers', 'ours');

describe('a table is added', () => {
  it.each([
    ['to nothing', '', TABLE],
    ['behind what is there', 'model = "x"\n', `model = "x"\n\n${TABLE}`],
    ['behind a line without end', 'model = "x"', `model = "x"\n\n${TABLE}`],
    [
      'with the line ends of the text',
      'model = "x"\r\n',
      `model = "x"\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`,
    ],
    [
      'beside tables that look like it in texts',
      'a = """\n[mcp_servers.ours]\nurl = 1\n"""\n',
      `a = """\n[mcp_servers.ours]\nurl = 1\n"""\n\n${TABLE}`,
    ],
    [
      'beside others',
      '[mcp_servers."ours.x"]\nurl = "u"\n[mcp_servers]\n',
      `[mcp_servers."ours.x"]\nurl = "u"\n[mcp_servers]\n\n${TABLE}`,
    ],
  ])('%s', (_what, before, after) => {
    expect(has(before)).toBe(false);
    expect(set(before)).toBe(after);
    expect(has(after)).toBe(true);
  });
});

describe('a table is replaced, with those below it', () => {
  it.each([
    [
      'and the comments around it stay',
      '# one\n[mcp_servers.ours] # two\nurl = "old"\n\n# three\n[other]\na = 1\n',
      `# one\n${TABLE}\n# three\n[other]\na = 1\n`,
    ],
    [
      'in any spelling',
      '[ mcp_servers . "ours" ]\nurl = "old"\n[a]\n[mcp_servers.ours.env]\nx = [\n  "[y]",\n]\n[b]\n',
      `${TABLE}[a]\n[b]\n`,
    ],
    ['at the end of the text', '[mcp_servers.ours]\nurl = "old"', TABLE],
  ])('%s', (_what, before, after) => {
    expect(has(before)).toBe(true);
    expect(set(before)).toBe(after);
    expect(set(after)).toBe(after);
  });
});

describe('is refused, with the place', () => {
  it.each([
    ['the entry in a line', 'mcp_servers = { ours = {} }\n', /line 1, column 1: write/],
    ['the entry by dotted keys', 'a = 1\nmcp_servers.ours.url = "x"\n', /line 2, column 1: write/],
    ['the entry in its section', '[mcp_servers]\nours = { url = "x" }\n', /line 2/],
    ['an array of sections', '[[mcp_servers]]\nurl = "x"\n', /is an array/],
    ['an array of entries', '[[mcp_servers.ours]]\n', /is an array/],
    ['a text without end', 'a = "x\nb = 1\n', /line 1, column 5: the text does not end/],
    ['a long text without end', 'a = """x\n', /the text does not end/],
    ['an array without end', 'a = [1,\n[b]\n', /the value does not end/],
    ['a header without end', '[a\nb = 1\n', /\] is missing/],
    ['a line that is nothing', 'hello\n', /= is missing/],
    ['a key without value', 'a =\n', /a value is missing/],
    ['JSON', '{"mcpServers": {}}\n', /a key is missing/],
    ['two on a line', '[a] b = 1\n', /a new line is missing/],
  ])('%s', (_what, text, message) => {
    expect(() => set(text)).toThrow(message);
    expect(() => has(text)).toThrow(message);
  });
});

const value = fc.constantFrom(
  '1',
  'true',
  '"x # y"',
  "'[mcp_servers.ours]'",
  '"\\"] = "',
  '1979-05-27T07:32:00Z',
  '[1, [2], "]"]',
  '[\n  "a", # ]\n  "b",\n]',
  '{ a = 1, b = { c = "}" } }',
  '"""\n[mcp_servers.ours]\nx = """',
  '"""two ""quotes"""""',
  "'''\n[other]\n'''",
  '-inf',
);
const key = fc.constantFrom('a', 'b-c', '"d e"', "'f.g'", 'h . i', '"\\u006f"');
const line = fc.oneof(
  fc.tuple(key, value, fc.constantFrom('', ' # note', '  ')).map((parts) => {
    const [name, text, end] = parts;
    return `${name} = ${text}${end}`;
  }),
  fc.constantFrom('', '  ', '# [mcp_servers.ours]', '#'),
);
const table = fc
  .tuple(
    fc.constantFrom(
      '[a]',
      '[a.b] # c',
      '[mcp_servers.other]',
      '[[list]]',
      '[mcp_servers.other.ours]',
    ),
    fc.array(line, { maxLength: 4 }),
  )
  .map(([header, lines]) => [header, ...lines]);
const ours = fc.constantFrom(
  ['[mcp_servers.ours]', 'url = "old"'],
  ["[mcp_servers.'ours']", 'http_headers = { Authorization = "]" }', 'x = [', ']'],
);

it('always: what is before and behind the table stays, byte for byte', () => {
  const text = fc
    .tuple(
      fc.array(line, { maxLength: 3 }),
      fc.array(table, { maxLength: 4 }),
      fc.option(ours),
      fc.array(table, { maxLength: 3 }),
      fc.constantFrom('\n', '\r\n'),
    )
    .map(([head, before, known, behind, lineEnd]) => {
      const join = (lines: readonly string[]) =>
        lines.map((one) => `${one.replaceAll('\n', lineEnd)}${lineEnd}`).join('');
      const first = join([...head, ...before.flat()]);
      return { first, known: join(known ?? []), last: join(behind.flat()), lineEnd };
    });
  fc.assert(
    fc.property(text, ({ first, known, last, lineEnd }) => {
      const ourTable = TABLE.replaceAll('\n', lineEnd);
      const whole = first + known + last;
      const after = set(whole);
      if (known) expect(after).toBe(first + ourTable + last);
      else expect(after).toBe(whole.trim() === '' ? whole + ourTable : whole + lineEnd + ourTable);
      expect(set(after)).toBe(after);
      expect(remove(whole)).toBe(first + last);
      expect(remove(after).startsWith(first + (known ? last : ''))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
