import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadDeploymentTokens } from '../identity/deployment-tokens.ts';
import { createHeldToken, type HeldToken } from './held-token.ts';

const TENANT = '01890000-0000-7000-8000-00000000000a';
const DEPLOYMENT = '01890000-0000-7000-8000-00000000000b';

let dataDir: string;
let held: HeldToken;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'held-token-'));
  const say = () => undefined;
  held = createHeldToken({
    core: { noteToken: () => undefined },
    tokens: loadDeploymentTokens(dataDir),
    root: 'root-token',
    log: { info: say, warn: say, error: say },
    now: () => 0,
  });
  held.keep(TENANT, DEPLOYMENT, { token: 'first', expires_at: null });
});

afterEach(() => rmSync(dataDir, { recursive: true }));

it('what is said about another token changes nothing', () => {
  expect(held.refuse('other')).toBe(false);
  expect(held.isRefused).toBe(false);
  expect(held.refuse('first')).toBe(true);
  expect(held.refuse('first')).toBe(false);
  expect(held.accept('other')).toBe(false);
  expect(held.isRefused).toBe(true);
  expect(held.accept('first')).toBe(true);
  expect(held.isRefused).toBe(false);
});

it('a new token is not refused with the one before it', () => {
  const { current } = held;
  if (!current) throw new Error('no token is held');
  held.refuse('first');
  held.renewed(current, { token: 'second', expires_at: null });
  expect(held).toMatchObject({ isRefused: false, renewals: 1, current: { token: 'second' } });
  expect(held.refuse('first')).toBe(false);
  expect(held.isRefused).toBe(false);
});
