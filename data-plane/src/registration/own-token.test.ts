import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadDeploymentTokens } from '../identity/deployment-tokens.ts';
import { createOwnToken, type OwnToken } from './own-token.ts';

const TENANT = '01890000-0000-7000-8000-00000000000a';
const DEPLOYMENT = '01890000-0000-7000-8000-00000000000b';

let dataDir: string;
let ownToken: OwnToken;
let time: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'own-token-'));
  time = 1_000;
  const say = () => undefined;
  ownToken = createOwnToken({
    core: { noteToken: () => undefined },
    tokens: loadDeploymentTokens(dataDir),
    root: 'root-token',
    log: { info: say, warn: say, error: say },
    now: () => time,
  });
  ownToken.keep(TENANT, DEPLOYMENT, { token: 'first', expires_at: null });
});

afterEach(() => rmSync(dataDir, { recursive: true }));

it('what is said about another token changes nothing', () => {
  expect(ownToken.refuse('other')).toBe(false);
  expect(ownToken.isRefused).toBe(false);
  expect(ownToken.refuse('first')).toBe(true);
  expect(ownToken.refuse('first')).toBe(false);
  expect(ownToken.isRefused).toBe(true);
});

it('only a statement of after the refusal lifts it', () => {
  expect(ownToken.vouched(999)).toBe(false);
  ownToken.refuse('first');
  expect(ownToken.vouched(1_000)).toBe(false);
  expect(ownToken.isRefused).toBe(true);
  expect(ownToken.vouched(1_001)).toBe(true);
  expect(ownToken.isRefused).toBe(false);
});

it('a new token is not refused with the one before it', () => {
  const { current } = ownToken;
  if (!current) throw new Error('no token is in use');
  ownToken.refuse('first');
  ownToken.renewed(current, { token: 'second', expires_at: null });
  expect(ownToken).toMatchObject({ isRefused: false, renewals: 1, current: { token: 'second' } });
  expect(ownToken.refuse('first')).toBe(false);
  expect(ownToken.isRefused).toBe(false);
});

it('a statement of an accepted clock lifts it, though those of before were later', () => {
  expect(ownToken.vouched(time + 86_400_000)).toBe(false);
  ownToken.refuse('first');
  expect(ownToken.vouched(time + 1)).toBe(false);
  // Of no time, as where it recognises nobody.
  expect(ownToken.vouched(0, 7)).toBe(false);
  // From before the refusal.
  expect(ownToken.vouched(time, 7)).toBe(false);
  expect(ownToken.vouched(time + 1, 7)).toBe(true);
  expect(ownToken.isRefused).toBe(false);
});

it('a refusal by a clock that was ahead is lifted by the next statement, and by none of before', () => {
  const day = 86_400_000;
  time += day;
  expect(ownToken.vouched(900)).toBe(false);
  ownToken.refuse('first');
  time -= day;
  expect(ownToken.vouched(900)).toBe(false);
  expect(ownToken.vouched(901)).toBe(true);
  expect(ownToken.isRefused).toBe(false);
});
