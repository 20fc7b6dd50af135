import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { readFollowedHistory } from './key-history.ts';
import { generateServiceKey } from './key-kinds.ts';
import { createServiceKeys, type ServiceKeys, type UnusableKey } from './keys.ts';
import { createMasterKey } from './master-key.ts';

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));
const actor = { id: 'superadmin', username: 'superadmin', role: 'super_admin' as const };
const order = { revoke: false, reason: null, actor, requestId: 'r' };

let time: number;
let told: UnusableKey[];
let keys: ServiceKeys;
/** Of feed statements, the oldest first; the last one signs. */
let kids: [string, string, string];

const aReplica = () =>
  createServiceKeys({
    ...{ db, masterKey, now: () => new Date(time) },
    onUnusable: (key) => told.push(key),
  });

beforeEach(async () => {
  await superuser.query('DELETE FROM service_key_rotations; DELETE FROM service_keys');
  time = Date.parse('2026-05-01T00:00:00.000Z');
  told = [];
  keys = aReplica();
  const { kid } = await keys.signingKey('feed-signing');
  const rotations = [];
  for (let n = 0; n < 2; n++) {
    time += 60_000;
    rotations.push(await keys.rotate('feed-signing', order));
  }
  time += 60_000;
  const [second, third] = rotations.map(({ newKid }) => newKid);
  kids = [kid, second ?? '', third ?? ''];
});

/** Rows that damage, or a hand, changed: each kind is told from the others. */
const DAMAGES = {
  'does not open': `private_ciphertext = set_byte(private_ciphertext, 40, get_byte(private_ciphertext, 40) # 1)`,
  'has the private half of another': `private_ciphertext =
    (SELECT private_ciphertext FROM service_keys s WHERE s.kid <> service_keys.kid LIMIT 1)`,
  'has the public half of another': `public_jwk = replace((SELECT public_jwk FROM service_keys s
    WHERE s.kid <> service_keys.kid LIMIT 1), '"kid"', '"other"')`,
  'is no JSON': `public_jwk = 'x'`,
  'is the JSON of nothing': `public_jwk = 'null'`,
};
const damage = (kid: string, set: string) =>
  superuser.query(`UPDATE service_keys SET ${set} WHERE kid = $1`, [kid]);

describe.each(Object.entries(DAMAGES))('a row that %s', (_, set) => {
  it('is left out by itself, and told once, where another key signs', async () => {
    await damage(kids[1], set);
    const replica = aReplica();
    expect((await replica.signingKey('feed-signing')).kid).toBe(kids[2]);
    const accepted = (await replica.verificationKeys('feed-signing')).map(({ kid }) => kid);
    expect(accepted).toEqual([kids[2], kids[0]]);
    const listed = await replica.listKeys(['feed-signing']);
    expect(listed.map(({ kid }) => kid)).toEqual([kids[0], kids[2]]);
    replica.forget();
    await replica.signingKey('feed-signing');
    expect(told).toEqual([
      { kid: kids[1], purpose: 'feed-signing', reason: expect.stringMatching(/./) },
    ]);
    expect(replica.listUnusable()).toEqual(told);
    // The next rotation is one of the key that signs.
    expect((await replica.rotate('feed-signing', order)).oldKid).toBe(kids[2]);
  });

  it('has nothing signed where it is the turn of it, and no earlier key sign in its place', async () => {
    await damage(kids[2], set);
    const replica = aReplica();
    for (const work of [
      () => replica.signingKey('feed-signing'),
      () => replica.rotate('feed-signing', { ...order, revoke: true }),
    ]) {
      await expect(work()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        detail: `Service key ${kids[2]} (feed-signing), which signs now, cannot be used.`,
      });
    }
    const accepted = (await replica.verificationKeys('feed-signing')).map(({ kid }) => kid);
    expect(accepted).toEqual([kids[1], kids[0]]);
    await expect(replica.signingKey('batch-signing')).resolves.toMatchObject({ alg: 'EdDSA' });
    expect(told.map(({ kid }) => kid)).toEqual([kids[2]]);
  });
});

it('is used again once its row is mended', async () => {
  const { rows } = await superuser.query<{ bytes: Buffer }>(
    'SELECT private_ciphertext AS bytes FROM service_keys WHERE kid = $1',
    [kids[2]],
  );
  await damage(kids[2], DAMAGES['does not open']);
  keys.forget();
  await expect(keys.signingKey('feed-signing')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await superuser.query('UPDATE service_keys SET private_ciphertext = $2 WHERE kid = $1', [
    kids[2],
    rows[0]?.bytes,
  ]);
  keys.forget();
  expect((await keys.signingKey('feed-signing')).kid).toBe(kids[2]);
  expect(keys.listUnusable()).toEqual([]);
});

it.each([
  -1_000, 3_600_000,
])('somebody’s own row, of %i ms from now, neither takes a turn nor keeps the keys from following', async (from) => {
  const { publicJwk } = await generateServiceKey('feed-signing');
  await superuser.query(
    `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext, created_at)
     VALUES ($1, 'feed-signing', $2, '\\x00', $3)`,
    [publicJwk.kid, JSON.stringify(publicJwk), new Date(time + from)],
  );
  const replica = aReplica();
  expect((await replica.signingKey('feed-signing')).kid).toBe(kids[2]);
  const accepted = (await replica.verificationKeys('feed-signing')).map(({ kid }) => kid);
  expect(accepted).toEqual([...kids].reverse());
  expect(replica.listUnusable()).toMatchObject([{ kid: publicJwk.kid }]);
  expect((await replica.rotate('feed-signing', order)).oldKid).toBe(kids[2]);
});

it('a revocation reaches data planes although the revoked row cannot be used', async () => {
  const { oldKid } = await keys.rotate('feed-signing', { ...order, revoke: true });
  await damage(oldKid, DAMAGES['does not open']);
  const replica = aReplica();
  const revoked = (await readFollowedHistory(replica)).keys.filter(
    (key) => key.revoked_at !== null,
  );
  expect(revoked.map(({ kid }) => kid)).toEqual([oldKid]);
  expect((await replica.listKeys(['feed-signing'])).map(({ kid }) => kid)).not.toContain(oldKid);
  // A row that is no key at all must not keep everybody from the history.
  await damage(oldKid, DAMAGES['is no JSON']);
  expect((await readFollowedHistory(aReplica())).keys.length).toBeGreaterThan(0);
});
