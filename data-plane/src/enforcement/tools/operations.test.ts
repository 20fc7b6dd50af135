import { describe, expect, it } from 'vitest';
import { deriveAction, operationOf, type ToolHints } from '../call/tool-action.ts';
import { findOperations } from './operations.ts';

/** What mcp-json-yaml-toml declares of `data`. */
const SCHEMA = {
  type: 'object',
  properties: {
    file_path: { description: 'Path to file', type: 'string' },
    operation: { enum: ['get', 'set', 'delete'], type: 'string' },
    key_path: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    return_type: { default: 'all', enum: ['keys', 'all'], type: 'string' },
  },
};
const HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  operations: findOperations(SCHEMA),
};

describe('The operations of a tool', () => {
  it('are those that its schema lists, a delete among them', () => {
    expect(findOperations(SCHEMA)).toEqual([
      { name: 'operation', values: ['get', 'set', 'delete'] },
    ]);
  });

  const schema = (properties: unknown) => ({ type: 'object', properties });
  it.each([
    undefined,
    null,
    'operation',
    {},
    { properties: null },
    schema({ operation: true }),
    schema({ operation: { type: 'string' } }),
    schema({ operation: { enum: ['get', 'set'] } }),
    schema({ operation: { enum: ['get', 'delete', 5] } }),
    schema({ operation: { enum: 'delete' } }),
    schema({ color: { enum: ['red', 'delete'] } }),
  ])('are none in %j', (input) => expect(findOperations(input)).toBeUndefined());
});

describe('What a call of such a tool does', () => {
  it.each(['get', 'set'])('is no delete where it asks for %s', (operation) => {
    expect(deriveAction('data', HINTS)).toBe('delete');
    expect(operationOf('data', { operation }, HINTS)).toBe('write');
    // Never less than without the server's word that some of it is destructive.
    const { readOnlyHint, ...unknown } = HINTS;
    expect(operationOf('data', { operation }, unknown)).toBe('execute');
    expect(operationOf('data', { operation }, { ...HINTS, readOnlyHint: true })).toBe('delete');
  });

  it.each<[string, Record<string, unknown>, Partial<ToolHints>, string]>([
    ['a delete', { operation: 'delete' }, {}, 'data'],
    ['nothing', {}, {}, 'data'],
    ['what the tool does not list', { operation: 'read' }, {}, 'data'],
    ['it in other words', { operation: 'GET' }, {}, 'data'],
    ['several', { operation: ['get'] }, {}, 'data'],
    ['it by inheritance', Object.create({ operation: 'get' }), {}, 'data'],
    [
      'it by an argument that is not declared',
      { operation: 'get' },
      { operations: undefined },
      'data',
    ],
    ['it from a tool whose name says delete', { operation: 'get' }, {}, 'delete_data'],
    [
      'it from a tool that an administrator judged',
      { operation: 'get' },
      { override: { action: 'delete', isInForce: true } },
      'data',
    ],
  ])('stays what the tool does where it asks for %s', (_what, args, over, name) => {
    expect(operationOf(name, args, { ...HINTS, ...over })).toBe('delete');
  });

  it('is what the tool does where one of its values says nothing, or worse', () => {
    const operations = [
      { name: 'mode', values: ['get', 'delete', 'frobnicate', 'purge', 'reset'] },
    ];
    for (const mode of ['frobnicate', 'purge', 'reset']) {
      expect(operationOf('data', { mode }, { ...HINTS, operations })).toBe('delete');
    }
  });

  it('is what the tool does unless all that choose say otherwise', () => {
    const operations = ['operation', 'mode'].map((name) => ({ name, values: ['get', 'delete'] }));
    const hints = { ...HINTS, operations };
    expect(operationOf('data', { operation: 'get' }, hints)).toBe('delete');
    expect(operationOf('data', { operation: 'get', mode: 'delete' }, hints)).toBe('delete');
    expect(operationOf('data', { operation: 'get', mode: 'get' }, hints)).toBe('write');
  });

  it("is the tool's action where that is no delete", () => {
    expect(operationOf('data', { operation: 'get' }, { readOnlyHint: true })).toBe('read');
    expect(operationOf('data', { operation: 'delete' }, undefined)).toBe('execute');
  });
});
