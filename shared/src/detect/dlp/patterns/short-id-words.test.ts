/** National numbers beside what people call them for short: their check digits count. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('Turkish and Israeli numbers', () => {
  it.each([
    ['Name: Ayla Demir | TC: 94568983080 | İl: Bursa', '94568983080'],
    ['Name: Ayla Demir | TC: ９４５６８９８３０８０ | İl: Bursa', '９４５６８９８３０８０'],
    ['ת.ז. 324089358 שם: נועה ברק', '324089358'],
    ['ת״ז: 324089358', '324089358'],
  ])('are found: %s', (text, value) => expect(found(text)).toEqual([value]));

  it.each([
    'TC: 94568983081',
    'TC: 14:20 Uhr, 21 °C',
    'ת.ז. 324089359',
    'TC=K, 94568983080123',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));
});
