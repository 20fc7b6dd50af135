import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

const KEY = 'q8RtZ2mVx6NbL0cYw4HsKd7PfJ3aGu9EoT5i';

describe('a link with a signature', () => {
  it.each([
    `https://d111.cloudfront.net/a.pdf?Expires=1893456000&Signature=${KEY}~x__&Key-Pair-Id=K2JX`,
    `https://d111.cloudfront.net/a.pdf?Expires=1893456000&Signature=${KEY}`,
    `…a.pdf?Policy=eyJT&Signature=${KEY}`,
    `https://storage.googleapis.com/b/a.pdf?GoogleAccessId=x&Expires=1893456000&Signature=${KEY}%3D`,
    `https://storage.googleapis.com/b/a.pdf?X-Goog-Date=20261129T000000Z&X-Goog-Signature=7d1c0e5b94a84f2f9b0d36a1c85e72f4`,
    `X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=7d1c0e5b94a84f2f9b0d36a1c85e72f4`,
    `https://a.blob.core.windows.net/c/f?sv=2022-11-02&se=2027-01-01&sr=b&sp=r&sig=Ab3dEfGhIjKlMnOpQr7t`,
  ])('is found: %s', (text) => expect(found(text)).toHaveLength(1));

  it.each([
    'https://d111.cloudfront.net/a.pdf?Expires=EXPIRY&Signature=SIGNATURE&Key-Pair-Id=KEY_PAIR_ID',
    'X-Amz-Date=20261129T000000Z&X-Amz-Signature=<signature>',
    'X-Goog-Signature=SIGNATURE-AS-HEX&X-Goog-Expires=900',
    `https://api.example.net/hook?Signature=${KEY}`,
    'https://a.blob.core.windows.net/c/f?sv=2022-11-02&se=2027-01-01&sr=b&sp=r&sig=xxxxxxxxxxxxxxxx',
    'https://maps.example.net/tile?sig=Ab3dEfGhIjKlMnOpQr7t',
  ])('is no finding: %s', (text) => expect(found(text)).toEqual([]));
});

describe('a cookie of a session', () => {
  const value = 'k3v9x0q7m2c8z5w1t6r4p9n8b7h2j5d1';

  it.each([
    `curl 'https://shop.example.net/orders' -b 'lang=de; sessionid=${value}' --compressed`,
    `curl -b "sid=${value}" https://shop.example.net`,
    `curl --cookie "theme=dark; auth_token=${value}; lang=de" https://shop.example.net`,
    `curl --cookie=session=${value} https://shop.example.net`,
    `Cookie: lang=de; sessionid=${value}; theme=dark`,
    `-H 'Cookie: connect.sid=${value}'`,
    `Set-Cookie: session=${value}; Path=/; HttpOnly`,
  ])('is found: %s', (text) => expect(found(text)).toEqual([value]));

  it.each([
    "curl -b cookies.txt -c cookies.txt 'https://shop.example.net/sessions?id=7'",
    "curl -b 'lang=de; theme=dark' https://shop.example.net",
    'git checkout -b "fix/session-token=handling"',
    'Set-Cookie: session=; Max-Age=0',
    "curl -b 'sessionid=<your session>' https://shop.example.net",
  ])('is none: %s', (text) => expect(found(text)).toEqual([]));
});
