import { randomBytes } from 'node:crypto';
import type { RegistrationAnswer } from '@governance/shared/channel/channels';
import { followHistory } from '@governance/shared/channel/follow-keys';
import { KeyHistory } from '@governance/shared/evidence/key-history';
import { Secret } from '@governance/shared/settings';
import { beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
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
  'has text of half a character': `public_jwk = '{"kty":"\\ud800"}'`,
  'has a number that is none': `public_jwk = '{"kty":"x","n":1e999}'`,
  'is nested without end': `public_jwk = repeat('[', 50000) || repeat(']', 50000)`,
  'has another algorithm': `public_jwk = (public_jwk::jsonb || '{"alg":"none"}')::text`,
  'has one member more': `public_jwk = (public_jwk::jsonb || '{"x5u":"https://other.example"}')::text`,
  'is damaged in its first byte': `private_ciphertext = set_byte(private_ciphertext, 0, 9)`,
};
const damage = (kid: string, set: string) =>
  superuser.query(`UPDATE service_keys SET ${set} WHERE kid = $1`, [kid]);

describe.each(Object.entries(DAMAGES))('a row that %s', (_, set) => {
  it('is left out by itself, and reported once, where another key signs', async () => {
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
    expect(await replica.findUnusable()).toEqual(told);
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
  expect(await keys.findUnusable()).toEqual([]);
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
  expect(await replica.findUnusable()).toMatchObject([{ kid: publicJwk.kid }]);
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
});

describe('a data plane that trusts a key', () => {
  const FORMS = {
    ...DAMAGES,
    'is a number': `public_jwk = '5'`,
    'is a list': `public_jwk = '[]'`,
    'is an empty object': `public_jwk = '{}'`,
    'has a private member': `public_jwk = (public_jwk::jsonb || '{"d":"x"}')::text`,
    'was revoked at no time': `revoked_at = 'infinity'`,
    'begins at no time': `valid_from = '-infinity'`,
  };

  it.each(Object.entries(FORMS))('drops it where it was revoked and its row %s', async (_, set) => {
    const feed_keys = (await keys.feedVerificationKeys()) as RegistrationAnswer['feed_keys'];
    const { oldKid, newKid } = await keys.rotate('feed-signing', { ...order, revoke: true });
    await damage(oldKid, set);
    const history = KeyHistory.parse(await readFollowedHistory(aReplica()));
    const followed = followHistory({ bundle_keys: [], feed_keys }, history);
    const trusted = followed.feed.map(({ kid }) => kid);
    expect(trusted).toContain(newKid);
    expect(trusted).not.toContain(oldKid);
  });

  it('gets the history although the id of a revoked row is none', async () => {
    await superuser.query(
      `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext, created_at, revoked_at)
       VALUES (repeat('j', 300), 'feed-signing', '{}', '\\x00', now(), now())`,
    );
    expect(KeyHistory.parse(await readFollowedHistory(aReplica())).keys).toHaveLength(3);
  });
});

describe('a key that has ended does not sign again where the one after it', () => {
  const broken = `private_ciphertext = '\\x00'`;
  it.each([
    ['is damaged, and begins later', `${broken}, valid_from = valid_from + interval '1 ms'`],
    ['is damaged, and begins at no time', `${broken}, valid_from = 'infinity'`],
    ['is damaged, and marked as revoked', `${broken}, revoked_at = now()`],
    ['is marked as revoked', 'revoked_at = now()'],
    ['has a purpose that is none', `purpose = 'feed-signinG'`],
    ['has another purpose', `purpose = 'batch-signing'`],
  ])('%s', async (_, set) => {
    await damage(kids[2], set);
    const replica = aReplica();
    await expect(replica.signingKey('feed-signing')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(replica.rotate('feed-signing', order)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  it('is gone', async () => {
    await superuser.query('DELETE FROM service_key_rotations');
    await superuser.query('DELETE FROM service_keys WHERE kid = $1', [kids[2]]);
    await expect(aReplica().signingKey('feed-signing')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });
});

it('somebody’s row with the start of the key that signs does not keep that from signing', async () => {
  await superuser.query(
    `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext, created_at)
     SELECT 'other', purpose, '{}', '\\x00', retired_at FROM service_keys WHERE kid = $1`,
    [kids[1]],
  );
  expect((await aReplica().signingKey('feed-signing')).kid).toBe(kids[2]);
});

it.each([
  ['a date that is none', `valid_from = '-infinity'`, 'one of its dates is invalid'],
  ['an unknown purpose', `purpose = 'nothing'`, 'its purpose is unknown'],
  [
    'the public half of another',
    DAMAGES['has the public half of another'],
    /public key .* does not match its private key$/,
  ],
])('a row with %s is reported by that reason', async (_, set, reason) => {
  await damage(kids[0], set);
  await aReplica().findUnusable();
  expect(told).toMatchObject([{ kid: kids[0], reason: expect.stringMatching(reason) }]);
});

it('every damaged row is reported, also of an unused purpose and of an unknown one', async () => {
  const { kid } = await keys.signingKey('batch-signing');
  await damage(kid, DAMAGES['does not open']);
  await damage(kids[0], `purpose = 'nothing'`);
  expect((await aReplica().findUnusable()).map(({ purpose }) => purpose)).toEqual([
    'batch-signing',
    null,
  ]);
  expect(told.map((key) => key.kid)).toEqual([kid, kids[0]]);
});

it.each([
  ['statement', `signed = '{}'`],
  ['statement, which is no JSON,', `signed = 'x'`],
  ['purpose', `purpose = 'nothing'`],
  ['time', `rotated_at = 'infinity'`],
])('a rotation whose %s is damaged is left out by itself, and told once', async (_, set) => {
  await superuser.query(`UPDATE service_key_rotations SET ${set} WHERE new_kid = $1`, [kids[1]]);
  const damaged: string[] = [];
  const replica = createServiceKeys({
    ...{ db, masterKey, now: () => new Date(time) },
    onDamagedRotation: ({ newKid }) => damaged.push(newKid),
  });
  for (let n = 0; n < 2; n++) {
    const listed = await replica.listRotations(['feed-signing']);
    expect(listed.map(({ newKid }) => newKid)).toEqual([kids[2]]);
  }
  expect(damaged).toEqual([kids[1]]);
  expect((await readFollowedHistory(replica)).rotations).toHaveLength(1);
});
