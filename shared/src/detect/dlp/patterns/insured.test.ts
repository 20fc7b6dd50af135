import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('numbers of insured people and of inmates', () => {
  it.each([
    [
      'Claim 077447817 — policyholder Ms Halloran, policy HO-7766320, water damage',
      ['077447817', 'HO-7766320'],
    ],
    ['The insured holds policy PA-4471920.', ['PA-4471920']],
    ['Inmate/booking no. 24-055691, Devereux, Lamar T., court 3', ['24-055691']],
    ['jail booking number: 2024001873', ['2024001873']],
  ])('are found: %s', (text, values) => expect(found(text)).toEqual(values));

  it.each([
    'policy HO-7766320 of the firewall',
    'Policy 2024050 was published; claim 20240501 of the patent',
    'booking no. 24-055691, two nights, breakfast included',
    'The policyholder read policy 20240501.',
    'The adjuster works under policy HO-77 until noon',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));
});
