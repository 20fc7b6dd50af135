/** Each disguise within each other one: the value is found, whichever was applied last. */
import { afterAll, describe, expect, it } from 'vitest';
import { rot13 } from '../../rot13.ts';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const bytesOf = (text: string): string[] =>
  [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'));
const each = (text: string, form: (character: string) => string): string =>
  [...text].map(form).join('');
const hexOf = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');

const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hex: (text) => bytesOf(text).join(''),
  url: (text) => bytesOf(text).join('%').replace(/^/, '%'),
  html: (text) => each(text, (character) => `&#${character.codePointAt(0)};`),
  escape: (text) => each(text, (character) => `\\u${hexOf(character)}`),
  reversed: (text) => [...text].reverse().join(''),
  rot13,
  'zero width': (text) => [...text].join('\u200b'),
  'full width': (text) =>
    text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  dashes: (text) => [...text].join('-'),
  blanks: (text) => [...text].join(' '),
  stars: (text) => [...text].join('*'),
};

const SECRETS: readonly [string, string][] = [
  ['aws_access_key_id', 'key AKIAQ7MZ3HTXW5RBNC2V ok'],
  ['git_host_token', 'token is ghp_a8Kd93jfLs02mZq7RtYw5VbNc1XeHg4UiOpQ'],
  ['secret_assignment', 'password = Tr0ub4dor&3xyz'],
];

describe.each(SECRETS)('%s', (_pattern, secret) => {
  for (const [inner, first] of Object.entries(DISGUISES)) {
    it(`is found with ${inner}, alone and within each other disguise`, () => {
      const missed = Object.entries(DISGUISES)
        .filter(([outer]) => outer !== inner)
        .filter(([, second]) => scanner.scanValue({ text: second(first(secret)) }).length === 0)
        .map(([outer]) => outer);
      expect(scanner.scanValue({ text: first(secret) })).not.toEqual([]);
      expect(missed).toEqual([]);
    });
  }
});
