import { expect, it } from 'vitest';
import { dropMembers, findMember, visitMembers } from './members.ts';

const names = (text: string) => {
  const found: string[] = [];
  visitMembers(text, ({ name }) => {
    found.push(name);
    return false;
  });
  return found;
};

it('finds a value as it was written, with and without the braces', () => {
  const members = '"a" : {"b":"}\\"]","c":[1,{"x":2}]} , "b":1.50,"c\\u0061":"x","d":null';
  for (const text of [members, `{ ${members} }`]) {
    expect(names(text)).toEqual(['a', 'b', 'ca', 'd']);
    expect(findMember(text, 'a')).toBe('{"b":"}\\"]","c":[1,{"x":2}]}');
    expect(findMember(text, 'b')).toBe('1.50');
    expect(findMember(text, 'ca')).toBe('"x"');
    expect(findMember(text, 'd')).toBe('null');
    expect(findMember(text, 'x')).toBeUndefined();
  }
});

it('is not misled by what values hold', () => {
  const name = 'na"me\\';
  const text = JSON.stringify({ arguments: { name: 'x', a: '\\"name":"y"' }, name });
  expect(JSON.parse(findMember(text, 'name') ?? '')).toBe(name);
});

it('drops members and keeps the others', () => {
  expect(dropMembers('{"a":1, "b":[2] ,"c":"3"}', new Set(['b']))).toBe('{"a":1,"c":"3"}');
  expect(dropMembers('{"a":1}', new Set(['a']))).toBe('{}');
  expect(dropMembers('{}', new Set(['a']))).toBe('{}');
});

it('ends with what is not JSON', () => {
  for (const text of [
    '',
    '{',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":[',
    '{"a":"',
    '{"a":1,',
    'x',
    '"a":}',
  ]) {
    expect(names(text).length).toBeLessThanOrEqual(1);
  }
});
