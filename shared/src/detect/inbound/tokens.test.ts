import { expect, it } from 'vitest';
import { MAX_TOKENS, ROWS_OF_TOKEN, readTokens, TOKEN_ROWS, tokens } from './tokens.ts';

function rowsOf(text: string): number[][] {
  const count = readTokens(text, 0, text.length);
  return Array.from({ length: count }, (_, at) =>
    Array.from(tokens.subarray(at * ROWS_OF_TOKEN, (at + 1) * ROWS_OF_TOKEN)),
  );
}

it('words, ideographs, numbers and signs are tokens', () => {
  expect(rowsOf('Send it')).toHaveLength(2);
  expect(rowsOf('转发邮件')).toHaveLength(4);
  expect(rowsOf('12, 345')).toHaveLength(3);
  expect(rowsOf('------')).toHaveLength(1);
  expect(rowsOf(' \n\t')).toHaveLength(0);
});

it('case, accents, full width and invisible characters make no difference', () => {
  const plain = rowsOf('resume sent');
  expect(rowsOf('Résumé SENT')).toEqual(plain);
  expect(rowsOf('ｒｅｓｕｍｅ ｓｅｎｔ')).toEqual(plain);
  expect(rowsOf('re\u200bsume sent')).toEqual(plain);
  expect(rowsOf('𝐫𝐞𝐬𝐮𝐦𝐞 sent')).toEqual(plain);
});

it('forms of a word share its beginning or its end', () => {
  const [[, forward], [, forwards]] = rowsOf('forwarded forwards') as [number[], number[]];
  expect(forward).toBe(forwards);
  const [[, , ending], [, , same]] = rowsOf('sending forwarding') as [number[], number[]];
  expect(ending).toBe(same);
});

it('numbers of one length are the same', () => {
  expect(rowsOf('1234')).toEqual(rowsOf('9876'));
  expect(rowsOf('1')).not.toEqual(rowsOf('12'));
});

it('each token has three rows, and no more tokens are read than there is room for', () => {
  const rows = rowsOf('a. 1 字 😀 é '.repeat(100));
  expect(rows).toHaveLength(MAX_TOKENS);
  for (const row of rows.flat()) {
    expect(row).toBeGreaterThan(0);
    expect(row).toBeLessThanOrEqual(TOKEN_ROWS);
  }
});

it('half of a surrogate pair at the border of a passage ends the reading', () => {
  expect(readTokens('ab \ud835', 0, 4)).toBeGreaterThan(0);
  expect(readTokens('𝐚𝐛', 1, 3)).toBeGreaterThan(0);
});
