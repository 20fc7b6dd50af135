/**
 * The two kinds of signing keys. The JWT keys come from the environment, or live as long as the
 * process; the service keys (bundles) persist in the database, encrypted under the master key,
 * and are shared by all replicas.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { AGENT_TOKEN_ALG } from '@governance/shared/agent-token';
import type { Secret } from '@governance/shared/settings';
import { calculateJwkThumbprint } from 'jose';
import type { MasterKey } from './master-key.ts';
import { SYSTEM_ACTOR, type TenantDatabase } from './tenant-scope.ts';

const generate = promisify(generateKeyPair);

/** A public key as it is published: what it is, its id, and the one algorithm it is good for. */
export interface PublicJwk {
  kty: string;
  kid: string;
  alg: string;
  use: 'sig';
  [member: string]: unknown;
}

/** The RSA key of agent and admin tokens. */
export interface TokenKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  publicJwk: PublicJwk;
}

/** @param given the pair of the environment; without it a new one is made */
export async function createTokenKey(given?: {
  privateKey: Secret<KeyObject>;
  publicKey: Secret<KeyObject>;
}): Promise<TokenKey> {
  const { privateKey, publicKey } = given
    ? { privateKey: given.privateKey.reveal(), publicKey: given.publicKey.reveal() }
    : await generate('rsa', { modulusLength: 2048 });
  const publicJwk = await toPublicJwk(publicKey, AGENT_TOKEN_ALG);
  return { kid: publicJwk.kid, privateKey, publicKey, publicJwk };
}

/** The ES256 key that signs bundles. */
export interface SigningKey {
  kid: string;
  alg: 'ES256';
  key: KeyObject;
  publicJwk: PublicJwk;
}

export interface ServiceKeys {
  /** The key that signs now; made at the first call on a new database. */
  bundleSigningKey(): Promise<SigningKey>;
  /** Every key whose signatures are still good. */
  bundleVerificationKeys(): Promise<PublicJwk[]>;
}

const BUNDLE_SIGNING = 'bundle-signing';
const LOCK = 'governance.service_keys';

export function createServiceKeys(deps: {
  db: Pick<TenantDatabase, 'inPlatform'>;
  masterKey: MasterKey;
}): ServiceKeys {
  let signingKey: Promise<SigningKey> | undefined;
  return {
    bundleSigningKey: () => {
      signingKey ??= findOrMakeSigningKey(deps).catch((error: unknown) => {
        // The database may have been away: the next call tries again.
        signingKey = undefined;
        throw error;
      });
      return signingKey;
    },
    bundleVerificationKeys: () =>
      deps.db.inPlatform(SYSTEM_ACTOR, async ({ db }) => {
        const rows = await db.serviceKey.findMany({
          where: { purpose: BUNDLE_SIGNING, retiredAt: null },
          orderBy: { createdAt: 'desc' },
        });
        return rows.map((row) => JSON.parse(row.publicJwk) as PublicJwk);
      }),
  };
}

async function findOrMakeSigningKey({
  db,
  masterKey,
}: Parameters<typeof createServiceKeys>[0]): Promise<SigningKey> {
  return db.inPlatform(SYSTEM_ACTOR, async (tx) => {
    // Replicas that start together must not make one each.
    await tx.db.$queryRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))::text`;
    const row = await tx.db.serviceKey.findFirst({
      where: { purpose: BUNDLE_SIGNING, retiredAt: null },
      orderBy: { createdAt: 'desc' },
    });
    if (row) {
      const der = masterKey.decrypt(row.privateCiphertext, contextOf(row.kid));
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return toSigningKey(key, JSON.parse(row.publicJwk) as PublicJwk);
    }
    const { privateKey, publicKey } = await generate('ec', { namedCurve: 'P-256' });
    const publicJwk = await toPublicJwk(publicKey, 'ES256');
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    await tx.db.serviceKey.create({
      data: {
        kid: publicJwk.kid,
        purpose: BUNDLE_SIGNING,
        publicJwk: JSON.stringify(publicJwk),
        privateCiphertext: masterKey.encrypt(der, contextOf(publicJwk.kid)),
      },
    });
    return toSigningKey(privateKey, publicJwk);
  });
}

function contextOf(kid: string) {
  return { purpose: BUNDLE_SIGNING, key: kid };
}

function toSigningKey(key: KeyObject, publicJwk: PublicJwk): SigningKey {
  return { kid: publicJwk.kid, alg: 'ES256', key, publicJwk };
}

async function toPublicJwk(key: KeyObject, alg: string): Promise<PublicJwk> {
  const jwk = createPublicKey(
    key.type === 'public' ? key.export({ format: 'pem', type: 'spki' }) : key,
  ).export({ format: 'jwk' }) as JsonWebKey & { kty: string };
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' };
}
