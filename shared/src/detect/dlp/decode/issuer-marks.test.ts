/** A key of every issuer, reversed and in rot13. */
import { afterAll, describe, expect, it } from 'vitest';
import { rot13 } from '../../rot13.ts';
import { createDlpScanner } from '../scanner.ts';
import { ISSUER_MARKS } from './issuer-marks.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const turned = (text: string): string => [...text].reverse().join('');
const LETTERS = 'q7Zk2mXw9Rb4TdV1nHs8LpF3yJc6GeQ5aUo0';
const HEX = '3f9a1c7e5b2d8064'.repeat(4);

const KEYS: readonly string[] = [
  `ghu_${LETTERS}`,
  `gldt-${LETTERS.slice(0, 20)}`,
  `glptt-${HEX.slice(0, 40)}`,
  `xapp-1-A0${LETTERS.slice(0, 9).toUpperCase()}-${HEX.slice(0, 20)}`,
  `ya29.${LETTERS}`,
  `rk_live_${LETTERS.slice(0, 24)}`,
  `whsec_${LETTERS.slice(0, 32)}`,
  `shpca_${HEX.slice(0, 32)}`,
  `key-${HEX.slice(0, 32)}`,
  `xkeysib-${HEX}-${LETTERS.slice(0, 16)}`,
  `lsv2_pt_${HEX.slice(0, 32)}_${HEX.slice(0, 10)}`,
  `dapi${HEX.slice(0, 32)}`,
  `ATATT3${LETTERS}${LETTERS}`,
  `glsa_${LETTERS}`,
  `NRAK-${LETTERS.slice(0, 27).toUpperCase()}`,
  `lin_api_${LETTERS}${LETTERS.slice(0, 4)}`,
  `dckr_pat_${LETTERS.slice(0, 27)}`,
  `AGE-SECRET-KEY-1${LETTERS}${LETTERS.slice(0, 22)}`.toUpperCase(),
  `npm_${LETTERS}`,
  // Marks of three characters.
  `SG.${LETTERS.slice(0, 22)}.${LETTERS}${LETTERS.slice(0, 7)}`,
  `hf_${LETTERS.slice(0, 34)}`,
  `r8_${LETTERS}`,
  `sk-${LETTERS}`,
];

describe.each(KEYS)('%s', (key) => {
  it.each([
    ['reversed', turned],
    ['rot13', rot13],
    ['reversed', (text: string) => rot13(turned(text))],
  ])('is found %s', (disguise, form) => {
    const found = scanner.scanText(`see ${form(key)} there`);
    expect(found.map((one) => one.disguise?.[0])).toContain(disguise);
  });
});

it('marks are read from groups, classes and choices of the patterns', () => {
  for (const mark of ['ghr_', 'glcbt-', 'GR1348', 'xoxb-', 'sq0csp', 'sk-pro', 'dp.sa.']) {
    expect(ISSUER_MARKS).toContain(mark);
  }
  expect(ISSUER_MARKS.filter((mark) => /[[\](){}?*+|\\]/.test(mark))).toEqual([]);
});
