import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const found = (text: string) =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('passwords with their name behind them, and in two halves', () => {
  it.each([
    ['<input value="9gzUp9bcncc!7" name="password" type="hidden">', ['9gzUp9bcncc!7']],
    ['<input type="text" value="9gzUp9bcncc!7" id="user_password">', ['9gzUp9bcncc!7']],
    ['{"u":"mara","p":"sZL8NyCJSs+6","kind":"login_password"}', ['sZL8NyCJSs+6']],
    [
      'two messages: first half "Vcw3Rk*5" second half "EaqKWT+7", put them together for the password',
      ['Vcw3Rk*5', 'EaqKWT+7'],
    ],
  ])('are found: %s', (text, values) => expect(found(text)).toEqual(values));

  it('a value in entities is found as a whole', () => {
    const text =
      '<input value="&#x39;&#x67;&#x7a;&#x55;&#x70;&#x39;&#x62;&#x63;&#x6e;&#x63;&#x63;&#x21;&#x37;" name="password" type="hidden">';
    expect(scanner.scanText(text).map(({ pattern }) => pattern)).toEqual(['secret_assignment']);
  });

  it('neighbouring members are found in a value, too', () => {
    expect(
      scanner.scanValue({ u: 'mara', p: 'sZL8NyCJSs+6', kind: 'login_password' }),
    ).toMatchObject([{ place: '/p' }]);
  });

  it.each([
    '<input value="" name="password" type="password">',
    '<input value="Sign in" name="password_reset" type="submit">',
    `<input value="\${password}" name="password">`,
    '<input value="Username42!x" name="username"><input name="password" type="password">',
    '{"value": "Enter your password", "type": "password"}',
    '{"text": "Password", "kind": "password"}',
    'The first half "Vcw3Rk*5" second half "EaqKWT+7" of the serial number',
    'passwords: first half "hello", second half "world"',
  ])('are no findings: %s', (text) => expect(found(text)).toEqual([]));
});
