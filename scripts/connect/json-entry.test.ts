import type { ClientEntry } from '@governance/shared/mcp/mcp-clients';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasJsonEntry, removeJsonEntry, setJsonEntry } from './json-entry.ts';
import { type JsonDialect, readJson } from './json-tree.ts';

const STRICT: JsonDialect = { comments: false, trailingCommas: false };
const LENIENT: JsonDialect = { comments: true, trailingCommas: true };
const ENTRY: ClientEntry = {
  url: 'https://g.example/mcp/v1',
  headers: { Authorization: 'Basic x' },
};

const set = (text: string, dialect = STRICT) =>
  setJsonEntry(text, 'mcpServers', 'ours', ENTRY, dialect);

/** What a client reads: comments and trailing commas outside of strings are blanked out. */
function parse(text: string): unknown {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[\s\S]/g) ?? [];
  const plain = tokens
    .filter((token) => !/^\/[/*]|^\s|^\uFEFF/.test(token))
    .filter((token, index, all) => token !== ',' || !/^[}\]]/.test(all[index + 1] ?? ''));
  return JSON.parse(plain.join(''));
}

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const char of part) {
    at = whole.indexOf(char, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

describe('an entry is added', () => {
  it.each([
    ['to nothing', '', '{\n  "mcpServers": {\n    "ours": E\n  }\n}\n'],
    ['to an empty object', '{}', '{\n  "mcpServers": {\n    "ours": E\n  }\n}'],
    ['to one with a line', '{\n}\n', '{\n  "mcpServers": {\n    "ours": E\n  }\n}\n'],
    [
      'behind other members',
      '{\n\t"theme": "dark"\n}\n',
      '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"ours": E\n\t}\n}\n',
    ],
    [
      'to an empty section',
      '{\n  "mcpServers": {},\n  "b": 1\n}\n',
      '{\n  "mcpServers": {\n    "ours": E\n  },\n  "b": 1\n}\n',
    ],
    [
      'behind other entries',
      '{\r\n    "mcpServers": {\r\n        "a": { "command": "x" }\r\n    }\r\n}\r\n',
      '{\r\n    "mcpServers": {\r\n        "a": { "command": "x" },\r\n        "ours": E\r\n    }\r\n}\r\n',
    ],
    ['on one line', '{"a":1,"mcpServers":{"b":{}}}', '{"a":1,"mcpServers":{"b":{},"ours":E}}'],
  ])('%s', (_what, before, after) => {
    const unit = before.includes('\t') ? '\t' : before.includes('\r') ? '    ' : '  ';
    const lineEnd = before.includes('\r') ? '\r\n' : '\n';
    const isOneLine = before.startsWith('{"');
    const entry = isOneLine
      ? JSON.stringify(ENTRY)
      : JSON.stringify(ENTRY, null, unit).replaceAll('\n', lineEnd + unit.repeat(2));
    expect(set(before)).toBe(after.replace('E', () => entry));
  });

  it('behind the comments of the member before, and before those of the end', () => {
    const before =
      '{\n  "mcpServers": {\n    "a": {} /* one */ // two\n    // the end\n  } // three\n}';
    const after = set(before, LENIENT);
    expect(after).toMatch(/"a": \{\}, \/\* one \*\/ \/\/ two\n {4}"ours": \{/);
    expect(after).toMatch(/\n {4}\}\n {4}\/\/ the end\n {2}\} \/\/ three\n\}$/);
    const trailing = set('{\n  "mcpServers": {\n    "a": {}, // one\n  },\n}', LENIENT);
    expect(trailing).toMatch(/"a": \{\}, \/\/ one\n {4}"ours": \{[\s\S]*\n {4}\},\n {2}\},\n\}$/);
    expect(set('{ "mcpServers": { /* none */ } }', LENIENT)).toContain('/* none */');
    expect(parse(set('{\n  "a": 1 /* goes\n on */\n}', LENIENT))).toHaveProperty('mcpServers');
  });

  it('in place of the existing one, and nothing else', () => {
    const before = '\uFEFF{"z": 1, "mcpServers": {"ours" : {"old": [1, {}]} , "b": {} } }\n';
    expect(hasJsonEntry(before, 'mcpServers', 'ours', STRICT)).toBe(true);
    expect(set(before)).toBe(before.replace('{"old": [1, {}]}', JSON.stringify(ENTRY)));
  });
});

describe('is refused, with the place', () => {
  it.each([
    ['no object', '[]', /line 1, column 1: this is not an object/],
    ['a section that is none', '{"mcpServers": []}', /"mcpServers" is not an object/],
    ['two sections', '{"mcpServers": {},\n "mcpServers": {}}', /line 2, column 2: .* twice/],
    ['two entries', '{"mcpServers": {"ours": {}, "ours": {}}}', /"ours" appears twice/],
    ['a comment', '{\n// c\n}', /line 2, column 1: this client reads no comments/],
    ['a trailing comma', '{"a": 1,}', /a key in double quotes is missing/],
    ['half a file', '{"a": {"b": 1}', /a comma or } is missing/],
    ['two values', '{} {}', /nothing may follow/],
    ['single quotes', "{'a': 1}", /a key in double quotes/],
    ['depth', `{"a": ${'['.repeat(600)}`, /too deeply/],
    ['a text without end', '{"a', /the text does not end/],
  ])('%s', (_what, text, message) => {
    expect(() => set(text)).toThrow(message);
    expect(() => hasJsonEntry(text, 'mcpServers', 'ours', STRICT)).toThrow(message);
  });
});

/** A JSON value with arbitrary whitespace, line ends and, where allowed, comments. */
const written = (dialect: JsonDialect): fc.Arbitrary<string> => {
  const blanks = fc.constantFrom('', '', ' ', '\n', '\r\n', '\t', '\n  ');
  const comments = fc.constantFrom(' // one, {"\n', '/* two } */', '/*\n*/');
  const gap = dialect.comments ? fc.oneof(blanks, blanks, comments) : blanks;
  const comma = dialect.trailingCommas ? fc.constantFrom('', ',') : fc.constant('');
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'mcpServer', 'OURS', 'o\\u0075rs x', '{', '//');
  const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.json({ maxDepth: 0 }),
      tie('object'),
      fc
        .tuple(fc.array(tie('value'), { maxLength: 3 }), gap, comma)
        .map(([items, space, end]) => `[${items.join(`${space},`)}${items.length ? end : ''}]`),
    ),
    object: objectOf(key, tie('value'), gap, comma),
  }));
  const servers = objectOf(fc.constantFrom('a', 'b', 'ours2', 'ours'), value, gap, comma);
  const members = fc.uniqueArray(fc.tuple(key, value), {
    selector: ([name]) => name,
    maxLength: 3,
  });
  return fc
    .tuple(members, fc.option(servers), fc.array(gap, { minLength: 5, maxLength: 5 }), comma)
    .map(([others, section, gaps, end]) => {
      const all = others.map(([name, text]) => `${gaps[0]}"${name}"${gaps[1]}:${gaps[2]}${text}`);
      if (section !== null) all.push(`${gaps[3]}"mcpServers":${section}`);
      return `${gaps[4]}{${all.join(`${gaps[0]},`)}${all.length ? end : ''}${gaps[1]}}${gaps[2]}`;
    });
};

function objectOf(
  key: fc.Arbitrary<string>,
  value: fc.Arbitrary<string>,
  gap: fc.Arbitrary<string>,
  comma: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const members = fc.uniqueArray(fc.tuple(key, value), {
    selector: ([name]) => name,
    maxLength: 3,
  });
  return fc.tuple(members, gap, gap, comma).map(([all, before, after, end]) => {
    const texts = all.map(([name, text]) => `${before}"${name}":${after}${text}`);
    return `{${texts.join(`${after},`)}${texts.length ? end : ''}${before}}`;
  });
}

type Config = { mcpServers?: Record<string, unknown> };

describe.each([
  ['JSON', STRICT],
  ['JSON with comments', LENIENT],
])('always, in %s', (_what, dialect) => {
  it('an entry is added or replaced, and every other byte stays', () => {
    fc.assert(
      fc.property(written(dialect), (text) => {
        const before = parse(text) as Config;
        const after = set(text, dialect);
        const wanted = { ...before, mcpServers: { ...before.mcpServers, ours: ENTRY } };
        expect(parse(after)).toEqual(wanted);
        // Other members keep their place: nothing is lost or moved.
        const [known] = before.mcpServers && 'ours' in before.mcpServers ? [valueAt(text)] : [];
        const rest = known ? text.slice(0, known.start) + text.slice(known.end) : text;
        expect(isSubsequence(rest, after)).toBe(true);
        if (known) {
          expect(after.startsWith(text.slice(0, known.start))).toBe(true);
          expect(after.endsWith(text.slice(known.end))).toBe(true);
        }
        expect(set(after, dialect)).toBe(after);
      }),
      { numRuns: 400 },
    );
  });

  it('an entry is removed, and nothing else', () => {
    fc.assert(
      fc.property(written(dialect), (text) => {
        const { mcpServers, ...others } = parse(text) as Config;
        const added = set(text, dialect);
        const removed = removeJsonEntry(added, 'mcpServers', 'ours', dialect);
        const { ours: _, ...rest } = mcpServers ?? {};
        expect(parse(removed)).toEqual({ ...others, mcpServers: rest });
        expect(removeJsonEntry(removed, 'mcpServers', 'ours', dialect)).toBe(removed);
      }),
      { numRuns: 400 },
    );
  });

  function valueAt(text: string) {
    const root = readJson(text, dialect);
    const section = root.type === 'object' && root.members.find(({ key }) => key === 'mcpServers');
    const value = section ? section.value : undefined;
    const servers = value?.type === 'object' ? value.members : [];
    return servers.find(({ key }) => key === 'ours')?.value as { start: number; end: number };
  }
});

it('reads what JSON.parse reads, and refuses what it refuses', () => {
  const isRead = (read: () => unknown) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  };
  const broken = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '{', ']', '1', '\\'));
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string(), broken), (made) => {
      const text =
        typeof made === 'string'
          ? made
          : made[0].slice(0, made[1] % (made[0].length + 1)) +
            made[2] +
            made[0].slice((made[1] % (made[0].length + 1)) + 1);
      expect(isRead(() => readJson(text, STRICT))).toBe(isRead(() => JSON.parse(text)));
    }),
    { numRuns: 1000 },
  );
});
