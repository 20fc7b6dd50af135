import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const LETTERS = 'q7Zk2mXw9Rb4TdV1nHs8LpF3yJc6GeQ5aUo0'.repeat(2);
const SMALL = LETTERS.toLowerCase();
const CAPITALS = LETTERS.toUpperCase();
const HEX = '3f9a1c7e5b2d8064'.repeat(4);
const UUID = '3f9a1c7e-5b2d-4064-a1c7-9e5b2d806413';

const KEYS: readonly string[] = [
  `CCIPAT_${LETTERS.slice(0, 22)}_${HEX.slice(0, 40)}`,
  `CCIPRJ_${LETTERS.slice(0, 22)}_${HEX.slice(0, 40)}`,
  `CLOJARS_${HEX.slice(0, 60)}`,
  `dp.scim.${LETTERS.slice(0, 43)}`,
  `lin_oauth_${HEX}`,
  `dt0s16.${CAPITALS.slice(0, 8)}.${CAPITALS.slice(0, 64)}`,
  `CCDB1_${LETTERS.slice(0, 22)}_${LETTERS.slice(0, 40)}`,
  `napi_${SMALL.slice(0, 64)}`,
  `zpka_${SMALL.slice(0, 32)}_${HEX.slice(0, 8)}`,
  `dnkey-${LETTERS.slice(0, 26)}-${LETTERS.slice(0, 52)}`,
  `sgp_${HEX.slice(0, 16)}_${HEX.slice(0, 40)}`,
  `ico-${LETTERS.slice(0, 32)}`,
  `apify_api_${LETTERS.slice(0, 36)}`,
  `polar_oat_${LETTERS.slice(0, 40)}`,
  `ddp_${LETTERS.slice(0, 36)}`,
  `signkey-prod-${HEX}`,
  `pdl_live_apikey_${SMALL.slice(0, 26)}_${LETTERS.slice(0, 22)}_q7Z`,
  `rdme_${SMALL.slice(0, 70)}`,
  `s-s4t2ud-${HEX}`,
  `pat-eu1-${UUID}`,
  `pat.${LETTERS.slice(0, 22)}.${HEX.slice(0, 24)}.${LETTERS.slice(0, 20)}`,
  `${LETTERS.slice(0, 6)}_${LETTERS.slice(0, 29)}_mmk`,
  `jina_${LETTERS.slice(0, 60)}`,
  `e2b_${HEX.slice(0, 40)}`,
  `0.${UUID}.${LETTERS.slice(0, 30)}:${LETTERS.slice(0, 22)}==`,
];

describe('tokens with the marks of platforms', () => {
  it.each(KEYS)('%s is found', (key) => {
    expect(scanner.scanText(`see ${key} there`)).toMatchObject([
      { pattern: 'platform_token', start: 4, length: key.length },
    ]);
  });

  it.each([
    `pat-eu1-${'x'.repeat(8)}-xxxx-xxxx-xxxx-xxxxxxxxxxxx`,
    'CCIPAT_your_token_here',
    'apify_api_version_of_the_client',
    'ico-arrow-left',
    'signkey-prod-rotation',
    `sgp_${HEX.slice(0, 12)}`,
    `pat.${UUID}`,
  ])('%s is no finding', (text) => expect(scanner.scanText(`see ${text} there`)).toEqual([]));
});
