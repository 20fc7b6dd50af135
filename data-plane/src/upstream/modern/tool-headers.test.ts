import { describe, expect, it } from 'vitest';
import { headerValue, scanToolHeaders, ToolHeaders } from './tool-headers.ts';

const of = (properties: unknown, more: object = {}) => ({ type: 'object', properties, ...more });
const at = (name: unknown, type = 'string') => ({ type, 'x-mcp-header': name });

describe('the annotations of a tool', () => {
  it('are found at any depth of properties', () => {
    const schema = of({ a: at('One'), b: of({ c: at('Two', 'integer'), d: {} }) });
    expect(scanToolHeaders(schema)).toEqual([
      { path: ['a'], name: 'mcp-param-one' },
      { path: ['b', 'c'], name: 'mcp-param-two' },
    ]);
  });

  it.each([
    ['an empty name', of({ a: at('') })],
    ['a name with a space', of({ a: at('a b') })],
    ['a name with a line break', of({ a: at('a\r\nb') })],
    ['a name that is no text', of({ a: at(1) })],
    ['a name twice', of({ a: at('Same'), b: at('same') })],
    ['a number', of({ a: at('A', 'number') })],
    ['an object', of({ a: at('A', 'object') })],
    ['no type', of({ a: { 'x-mcp-header': 'A' } })],
    ['the root', { ...of({}), 'x-mcp-header': 'A', type: 'string' }],
    ['items', of({ a: { type: 'array', items: at('A') } })],
    ['properties of items', of({ a: { items: of({ b: at('A') }) } })],
    ['a choice', of({}, { anyOf: [of({ a: at('A') })] })],
    ['a condition', of({}, { if: of({ a: at('A') }) })],
    ['a definition', of({ a: { $ref: '#/$defs/a' } }, { $defs: { a: at('A') } })],
  ])('are against the rules with %s', (_what, schema) => {
    expect(scanToolHeaders(schema)).toBeTypeOf('string');
  });

  it.each([
    ['nothing', undefined],
    ['a property that is called so', of({ 'x-mcp-header': { type: 'string' } })],
    ['data that looks like one', of({ a: { enum: [{ 'x-mcp-header': '' }], default: at('') } })],
  ])('are not found in %s', (_what, schema) => {
    expect(scanToolHeaders(schema)).toEqual([]);
  });

  it('are searched for within limits', () => {
    let schema: unknown = at('A');
    for (let n = 0; n < 200; n++) schema = of({ a: schema });
    expect(scanToolHeaders(schema)).toBeTypeOf('string');
  });
});

it.each([
  ['us-west1', 'us-west1'],
  ['a b', 'a b'],
  ['', '=?base64??='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
])('%j is %j in a header', (text, value) => {
  expect(headerValue(text)).toBe(value);
});

describe('the headers of a server', () => {
  const listed = (tools: unknown[]) => {
    const value = { tools, nextCursor: 'n' };
    return { kind: 'result' as const, raw: JSON.stringify(value), value };
  };

  it('leave out tools whose annotations are invalid, and say so', () => {
    const said: unknown[] = [];
    const headers = new ToolHeaders('up', { warn: (fields: unknown) => void said.push(fields) });
    const good = { name: 'good', inputSchema: of({ a: at('A') }) };
    const answer = headers.learn(listed([good, { name: 'bad', inputSchema: of({ a: at('') }) }]));
    expect(answer.value).toEqual({ tools: [good], nextCursor: 'n' });
    expect(JSON.parse(answer.raw)).toEqual(answer.value);
    expect(said).toEqual([expect.objectContaining({ server: 'up', tool: 'bad' })]);
    const untouched = listed([good]);
    expect(headers.learn(untouched)).toBe(untouched);
  });

  it('have a call’s texts, integers and booleans', () => {
    const headers = new ToolHeaders('up', { warn: () => undefined });
    const inputSchema = of({
      ...{ a: at('A'), b: at('B', 'integer'), c: at('C', 'boolean'), d: at('D') },
      deep: of({ e: at('E') }),
    });
    headers.learn(listed([{ name: 'tool "x"', inputSchema }]));
    const call = (args: unknown, name = 'tool "x"') =>
      headers.of(JSON.stringify({ name, arguments: args }).slice(1, -1));
    expect(call({ a: 'ä', b: 42, c: false, d: null, deep: { e: 'x' } })).toEqual([
      ...['mcp-param-a', '=?base64?w6Q=?='],
      ...['mcp-param-b', '42'],
      ...['mcp-param-c', 'false'],
      ...['mcp-param-e', 'x'],
    ]);
    expect(call({ a: {}, b: 1.5, c: [], deep: 'e' })).toEqual([]);
    expect(call({ a: 'x' }, 'other')).toEqual([]);
    // What the list no longer says is forgotten.
    headers.learn(listed([{ name: 'tool "x"', inputSchema: {} }]));
    expect(call({ a: 'x' })).toEqual([]);
  });
});
