import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DlpScanner } from './scan-contract.ts';
import { createDlpScanner } from './scanner.ts';

const KEY = `AKIA${'Q3EGRNX5T7WVUZ2J'}`;
const MIB = 1024 * 1024;
let scanner: DlpScanner;
beforeAll(() => {
  scanner = createDlpScanner({});
});
afterAll(() => scanner.close());

/** A text of some length with nothing in it. */
const filler = (length: number): string => 'Nothing to see in this line.\n'.repeat(length / 29);

describe('a text of many megabytes', () => {
  it.each([
    ['in the middle', (text: string) => text.slice(0, 5 * MIB) + KEY + text.slice(5 * MIB)],
    ['at its end', (text: string) => text + KEY],
  ])('is read to its end, as one leaf of a document: %s', (_where, put) => {
    const found = scanner.scanValue({ notes: { text: put(filler(9 * MIB)) } });
    expect(found).toMatchObject([{ pattern: 'aws_access_key_id', place: '/notes/text' }]);
  });

  it('is redacted in its place', () => {
    const text = filler(9 * MIB);
    const { value, failed } = scanner.redactValue([`${text}${KEY}\n`]);
    expect(failed).toBe(false);
    expect(value).toEqual([`${text}[REDACTED:aws_access_key_id]\n`]);
  });

  it.each([
    ['as it is', (base64: string) => base64],
    ['behind a name', (base64: string) => `data:text/plain;base64,${base64}`],
    ['in lines', (base64: string) => base64.replace(/.{76}/g, '$&\r\n')],
  ])('is decoded wherever the bytes stand: %s', (_how, write) => {
    const bytes = Buffer.from(`${filler(3 * MIB)}${KEY}\n${filler(2 * MIB)}`);
    const found = scanner.scanValue([write(bytes.toString('base64'))]);
    expect(found).toContainEqual(
      expect.objectContaining({ pattern: 'aws_access_key_id', disguise: ['base64'] }),
    );
  });

  it.each(['A', '=', '%41'])('may be one run of %s', (sign) => {
    expect(scanner.scanValue([sign.repeat((7 * MIB) / sign.length)])).toEqual([]);
  });

  it.each([99_999, 400_000])('may be many strings of code: %d before the two', (count) => {
    const code = `const parts = [${"'ab', ".repeat(count)}'AKIA' + '${KEY.slice(4)}'];`;
    expect(scanner.scanValue([code])).toMatchObject([{ disguise: ['split'] }]);
    expect(scanner.scanText(code)).toMatchObject([{ disguise: ['split'] }]);
  });
});
