import { expect, it } from 'vitest';
import { isReadAsClaimed } from './body-charset.ts';

it.each([
  undefined,
  '',
  'application/json',
  'application/json; charset=utf-8',
  'application/json;Charset="UTF-8"',
  'application/json ; charset = utf8',
  'application/json; charset=US-ASCII',
  'application/x-ndjson; profile=x; charset=utf-8',
  'application/x-www-form-urlencoded; charset=ISO-8859-1',
  'Application/X-WWW-Form-Urlencoded;charset="windows-1252"',
])('reads %j as it claims to be', (contentType) => {
  expect(isReadAsClaimed(contentType)).toBe(true);
});

it.each([
  'application/json; charset=utf-16',
  'application/json;charset=UTF-16LE',
  'application/json; CHARSET="iso-8859-1"',
  'application/json; charset=utf-8; charset=utf-7',
  'application/json; charset=',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/x-www-form-urlencoded; charset=iso-8859-1; charset=utf-7',
  'application/json; a=application/x-www-form-urlencoded; charset=iso-8859-1',
  'application/json; charset=utf-8x',
  "application/json; charset='utf-16'",
  'application/json; charset\t=\tutf-32',
])('does not read %j as it claims to be', (contentType) => {
  expect(isReadAsClaimed(contentType)).toBe(false);
});

it('looks through a long header in no time', () => {
  const began = performance.now();
  expect(isReadAsClaimed(`a/b${';charset'.repeat(2_000)}${' '.repeat(16_000)}`)).toBe(true);
  expect(isReadAsClaimed(`a/b;${' '.repeat(16_000)}`)).toBe(true);
  expect(isReadAsClaimed(`${' '.repeat(16_000)}application/x-www`)).toBe(true);
  expect(performance.now() - began).toBeLessThan(500);
});
