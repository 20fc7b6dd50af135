import { randomBytes } from 'node:crypto';
import { isRotationSigned } from '@governance/shared/evidence/evidence-keys';
import { Secret } from '@governance/shared/settings';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { generateServiceKey, SERVICE_KEY_PURPOSES } from './key-kinds.ts';
import { createServiceKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));

it('replicas that start together make one key, and a restart finds it', async () => {
  const replicas = [1, 2, 3].map(() => createServiceKeys({ db, masterKey }));
  const keys = await Promise.all(replicas.map((replica) => replica.bundleSigningKey()));
  expect(new Set(keys.map((key) => key.kid)).size).toBe(1);

  const restarted = createServiceKeys({ db, masterKey });
  const key = await restarted.bundleSigningKey();
  expect(key.kid).toBe(keys[0]?.kid);
  expect(key.key.equals(keys[0]?.key ?? key.key)).toBe(true);
  expect(await restarted.bundleVerificationKeys()).toEqual([
    { ...key.publicJwk, alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256' },
  ]);
});

describe('a rotation', () => {
  let time = Date.now() + 60_000;
  const now = () => new Date(time);
  let ticks = 0;
  const aReplica = () => createServiceKeys({ db, masterKey, now, elapsed: () => ticks });
  const actor = { id: 'superadmin', username: 'superadmin', role: 'super_admin' as const };
  const order = { revoke: false, reason: null, actor, requestId: 'r' };

  it.each(
    SERVICE_KEY_PURPOSES,
  )('of %s is signed by both, and known before it signs', async (purpose) => {
    const [one, other] = [aReplica(), aReplica()];
    const before = await one.signingKey(purpose);
    expect((await other.signingKey(purpose)).kid).toBe(before.kid);
    const rotation = await one.rotate(purpose, order);
    expect(rotation.oldKid).toBe(before.kid);
    expect(isRotationSigned(before.publicJwk, rotation.signed)).toBe(true);
    expect((await one.verificationKeys(purpose)).map(({ kid }) => kid)).toEqual([
      rotation.newKid,
      before.kid,
    ]);
    await expect(other.rotate(purpose, order)).rejects.toMatchObject({
      code: 'KEY_ROTATION_PENDING',
    });
    // The other one heard nothing: it looks by itself before the new key signs.
    time += 29_999;
    ticks += 29_999;
    expect((await one.signingKey(purpose)).kid).toBe(before.kid);
    expect((await other.signingKey(purpose)).kid).toBe(before.kid);
    time += 1;
    ticks += 1;
    expect((await one.signingKey(purpose)).kid).toBe(rotation.newKid);
    expect((await other.signingKey(purpose)).kid).toBe(rotation.newKid);
    expect((await aReplica().signingKey(purpose)).kid).toBe(rotation.newKid);
    const [stored] = (await other.listRotations([purpose])).slice(-1);
    expect(stored).toEqual({ ...rotation, actor: { id: actor.id, username: actor.username } });
    const listed = await other.listKeys([purpose]);
    expect(listed.map(({ kid, to }) => [kid, to?.getTime() ?? null])).toEqual([
      [before.kid, time],
      [rotation.newKid, null],
    ]);
  });

  it('that revokes takes effect at once, and the previous key is invalid', async () => {
    const one = aReplica();
    const before = await one.signingKey('feed-signing');
    const rotation = await one.rotate('feed-signing', { ...order, revoke: true, reason: 'stolen' });
    expect((await one.signingKey('feed-signing')).kid).toBe(rotation.newKid);
    const kids = (await one.verificationKeys('feed-signing')).map(({ kid }) => kid);
    expect(kids).toContain(rotation.newKid);
    expect(kids).not.toContain(before.kid);
    const listed = await one.listKeys(['feed-signing']);
    expect(listed.find(({ kid }) => kid === before.kid)).toMatchObject({
      revokedAt: now(),
      to: now(),
      revokeReason: 'stolen',
    });
  });

  it('reaches a replica at once when its cache is cleared', async () => {
    const [one, other] = [aReplica(), aReplica()];
    await other.signingKey('batch-signing');
    const { newKid } = await one.rotate('batch-signing', { ...order, revoke: true });
    expect((await other.signingKey('batch-signing')).kid).not.toBe(newKid);
    other.forget();
    expect((await other.signingKey('batch-signing')).kid).toBe(newKid);
  });

  it('leaves what a replica knows in use while the database is away', async () => {
    let isAway = false;
    const broken: Pick<typeof db, 'inPlatform'> = {
      inPlatform: (by, work) =>
        isAway ? Promise.reject(new Error('away')) : db.inPlatform(by, work),
    };
    const keys = createServiceKeys({ db: broken, masterKey, now, elapsed: () => ticks });
    const { kid } = await keys.signingKey('evidence-signing');
    isAway = true;
    ticks += 60_000;
    expect((await keys.signingKey('evidence-signing')).kid).toBe(kid);
    await expect(keys.rotate('evidence-signing', order)).rejects.toThrow('away');
  });

  it('two at the same moment make one key', async () => {
    time += 60_000;
    const done = await Promise.allSettled(
      [aReplica(), aReplica(), aReplica()].map((one) => one.rotate('checkpoint-signing', order)),
    );
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const numbers = (await aReplica().listRotations(SERVICE_KEY_PURPOSES)).map((one) => one.number);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

it('lists no key that was put into the database by somebody without the master key', async () => {
  const keys = createServiceKeys({ db, masterKey });
  const purpose = 'checkpoint-signing' as const;
  await keys.signingKey(purpose);
  const known = (await keys.listKeys([purpose])).map(({ kid }) => kid);
  expect(known.length).toBeGreaterThan(0);
  const { publicJwk } = await generateServiceKey(purpose);
  const of = `FROM service_keys WHERE kid = $2`;
  for (const ciphertext of [`(SELECT private_ciphertext ${of})`, `decode(md5($2), 'hex')`]) {
    await superuser.query(
      `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext, created_at)
       VALUES ($1, 'checkpoint-signing', $3, ${ciphertext}, now() - interval '1 year')`,
      [publicJwk.kid, known[0], JSON.stringify(publicJwk)],
    );
    expect((await keys.listKeys([purpose])).map(({ kid }) => kid)).toEqual(known);
    await superuser.query('DELETE FROM service_keys WHERE kid = $1', [publicJwk.kid]);
  }
  // Another public half under the id of a key that is there.
  const { rows } = await superuser.query<{ public_jwk: string }>(
    'SELECT public_jwk FROM service_keys WHERE kid = $1',
    [known[0]],
  );
  const set = 'UPDATE service_keys SET public_jwk = $2 WHERE kid = $1';
  await superuser.query(set, [known[0], JSON.stringify({ ...publicJwk, kid: known[0] })]);
  expect((await keys.listKeys([purpose])).map(({ kid }) => kid)).toEqual(known.slice(1));
  // Nor does a replica that starts now sign, or have others believe it.
  const later = createServiceKeys({ db, masterKey });
  expect((await later.verificationKeys(purpose)).map(({ kid }) => kid)).not.toContain(known[0]);
  expect((await later.signingKey(purpose)).kid).not.toBe(known[0]);
  const [unusable] = await later.findUnusable();
  expect(unusable?.reason).toContain('does not match its private key');
  await superuser.query(set, [known[0], rows[0]?.public_jwk]);
  expect((await keys.listKeys([purpose])).map(({ kid }) => kid)).toEqual(known);
});

it('keeps the private half encrypted, and bound to its key id', async () => {
  const { rows } = await superuser.query<{ private_ciphertext: Buffer; public_jwk: string }>(
    `SELECT private_ciphertext, public_jwk FROM service_keys WHERE purpose = 'bundle-signing'`,
  );
  expect(JSON.parse(rows[0]?.public_jwk ?? '')).not.toHaveProperty('d');
  await superuser.query(`UPDATE service_keys SET private_ciphertext =
    (SELECT private_ciphertext FROM service_keys WHERE purpose = 'feed-signing' LIMIT 1)
    WHERE purpose = 'bundle-signing'`);
  await expect(createServiceKeys({ db, masterKey }).bundleSigningKey()).rejects.toThrow();
});
