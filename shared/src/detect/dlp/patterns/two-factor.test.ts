import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('second factors', () => {
  it.each([
    ['TOTP seed: 2YTV3VYZCN6OLRQKU7QNLOALBOSA4KMF', '2YTV3VYZCN6OLRQKU7QNLOALBOSA4KMF'],
    [
      'TOTP seed for the registrar account: 2YTV3VYZCN6OLRQKU7QNLOALBOSA4KMF (backup)',
      '2YTV3VYZCN6OLRQKU7QNLOALBOSA4KMF',
    ],
    ['2FA setup key is 2ytv 3vyz cn6o lrqk u7qn', '2ytv 3vyz cn6o lrqk u7qn'],
    ['my backup code 83920184, keep it', '83920184'],
    ['MFA recovery code: 4821-9930', '4821-9930'],
  ])('are found: %s', (text, value) => expect(found(text)).toEqual([value]));

  it.each([
    'TOTP seed: see the vault',
    'The TOTP seed is never shown again',
    'TOTP seed for staging: AAAAAAAAAAAAAAAA',
    'Each of the ten backup codes has 8 digits',
    'backup code 20240501 was merged',
    'The recovery code of the second path restores the volume',
    'backup code review 12345678',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));
});
