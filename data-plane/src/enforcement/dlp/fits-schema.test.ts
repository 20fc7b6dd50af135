import { describe, expect, it } from 'vitest';
import { fitsSchema } from './fits-schema.ts';

const text = { type: 'string' };
const object = (properties: Record<string, unknown>, more = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const fits = (schema: unknown) =>
  fitsSchema(
    object({ kept: { type: 'string', pattern: '^x' }, it: schema }),
    { kept: 'x', it: { note: ['a secret'] } },
    { kept: 'x', it: { note: ['[REDACTED:p]'] } },
  );
const note = (items: unknown, more = {}) => object({ note: { type: 'array', items, ...more } });

describe('a text in the place of another', () => {
  it.each([
    ['any text', note(text)],
    ['a long enough one', note({ ...text, maxLength: 12, minLength: 12 })],
    ['what is said nowhere', {}],
    ['anything', true],
    ['alternatives that all take it', note({ anyOf: [text, { type: 'null' }] })],
    ['additional members', object({}, { additionalProperties: { type: 'array', items: text } })],
    ['one of the values', note({ enum: ['a secret', '[REDACTED:p]'] })],
    ['a tuple', note(false, { prefixItems: [text] })],
  ])('fits %s', (_, schema) => expect(fits(schema)).toBe(true));

  it.each([
    ['a shorter text', note({ ...text, maxLength: 11 })],
    ['a longer text', note({ ...text, minLength: 13 })],
    ['another value', note({ enum: ['a secret'] })],
    ['one value', note({ const: 'a secret' })],
    ['a pattern, which is not run', note({ pattern: '.*' })],
    ['a format', note({ ...text, format: 'email' })],
    ['all of', note({ allOf: [text, { maxLength: 3 }] })],
    ['exclusive alternatives', { oneOf: [note(text), note({ pattern: 'x' })] }],
    ['a condition', { ...note(text), if: {} }],
    ['a condition of draft 7', { ...note(text), dependencies: { note: note({ maxLength: 3 }) } }],
    ['different items', note(text, { uniqueItems: true })],
    ['nothing', note(false)],
    ['a schema that is none', note('string')],
    ['a reference elsewhere', note({ $ref: 'https://example.com/schema' })],
    ['a reference to nothing', note({ $ref: '#/$defs/none' })],
  ])('does not fit %s', (_, schema) => expect(fits(schema)).toBe(false));

  it('follows references within the schema, also circular ones', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: { node: object({ next: { $ref: '#/$defs/node' }, 'a/b': { maxLength: 12 } }) },
    };
    const value = (a: string) => ({ next: { next: { 'a/b': a } } });
    expect(fitsSchema(schema, value('x'), value('[REDACTED:p]'))).toBe(true);
    expect(fitsSchema(schema, value('x'), value('[REDACTED:pp]'))).toBe(false);
    expect(fitsSchema({ allOf: [{ $ref: '#' }] }, { a: 'x' }, { a: 'y' })).toBe(true);
  });

  it('ends with schemas within schemas that have no end', () => {
    let wide: unknown = text;
    for (let i = 0; i < 100; i++) wide = { anyOf: [wide, { maxLength: 100 + i }] };
    expect(fitsSchema(wide, 'a', 'b')).toBe(false);
    const deep = (inner: string) => {
      let value: unknown = inner;
      for (let i = 0; i < 100; i++) value = [value];
      return value;
    };
    const schema = { items: { $ref: '#' } };
    expect(fitsSchema(schema, deep('a'), deep('b'))).toBe(false);
  });
});
