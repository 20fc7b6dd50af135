import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

const HEX = '7d1c0e5b94a84f2f9b0d36a1c85e72f4';
const KEY = 'q8RtZ2mVx6NbL0cYw4HsKd7PfJ3aGu9E';

describe('a secret whose label stands elsewhere', () => {
  it.each([HEX, KEY])('is found: %s', (value) => {
    for (const text of [
      `[09:12] ana: who has the token for the map service?\n[09:14] bo: sure, ${value}\n[09:15] ana: ta`,
      `ana: can anyone send the api key again?\nbo: ${value}`,
      `<ana> need the credential for staging\n<bo> here, ${value}`,
      `ana  9:12\\nwhat is the token for the relay?\\n9:14 AM bo: ${value}`,
      `The relay's token leaked last night. The new one is ${value}, please deploy it.`,
      `Der Token ist abgelaufen. Der neue lautet ${value}.`,
      `El token caducó ayer. El nuevo es ${value}`,
      `Le jeton a expiré. Le nouveau est ${value}`,
      `You asked for the signing key; here it is: ${value}`,
      `03:20 replaced relay_api_key by ${value} on both nodes`,
      `We swapped the old relay token for ${value} at noon`,
      `RELAY_KEY durch ${value} ersetzt`,
      `Our calls to the relay fail. We authenticate with ${value} and changed nothing.`,
      `wir melden uns an; jeder Knoten authentifiziert sich mit ${value}`,
      `Here is the token you asked for:\n${value}\nBest, Ana`,
      `The api key of the relay is below.\n\n    ${value}\n`,
      JSON.stringify({ text: `can you keep the secret of the webhook?\n\n${value}` }),
      `RelayError: 401 for key ${value}`,
      `request rejected: invalid token ${value}`,
    ]) {
      expect([text, found(text)]).toEqual([text, [value]]);
    }
  });

  it.each([
    `The token bug is fixed. The new one is release ${HEX}`,
    `Token renewal landed in commit ${HEX.slice(0, 40).padEnd(40, '1')}; the new one is ${HEX.slice(0, 40).padEnd(40, '2')}.`,
    'Access denied for key uploads/2026/11/29/IMG_20261129_104512.jpg',
    `Invalid idempotency key ${HEX}`,
    `We rotated the secret store. The latest commit: it is ${HEX}`,
    `The old image is gone. The new one is ${HEX}`,
    `replaced the key file by commit ${HEX}`,
    `ana: who pushed the key change?\nbo: see https://git.example.net/relay/commit/${HEX}`,
    `ana: which token library?\nbo: jsonwebtoken, as before`,
    `The token parser is fixed in this commit:\n${HEX}`,
    `Checksums of the key files:\n${HEX}\n${KEY}`,
    `A token is needed.\n\nadministrators-of-the-company`,
    `secret sharing explained\n\nhttps://example.net/${HEX}`,
    `export {\n  decryptToken,\n  validateMaxPBES2Count\n}`,
    `Adds a token to the body.\n\n    redirect_url=relayCallback27Handler`,
    `401 for key orders-eu-west-1-primary-index`,
    `401 for key 3f2b8c1e-5d4a-4b6c-9e7f-0a1b2c3d4e5f`,
    `We authenticate with certificates-of-the-company-2026`,
    `He logged in with administrator-rights-for-all`,
    `expired token endpoint-of-the-identity-provider`,
    `replaced the password dialog by PasswordDialogWithHints`,
    `the cache key is built from the digest. The new one is ${HEX} for that build`,
  ])('is none: %s', (text) => expect(found(text)).toEqual([]));
});
