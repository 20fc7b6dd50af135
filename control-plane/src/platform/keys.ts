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
import type { SessionTokenClass } from '@governance/shared/session-token';
import type { Secret } from '@governance/shared/settings';
import { calculateJwkThumbprint } from 'jose';
import type { MasterKey } from './master-key.ts';
import { SYSTEM_ACTOR, type TenantDatabase } from './tenant-scope.ts';

const generate = promisify(generateKeyPair);

/** A public key as it is published: with its id and its one algorithm. */
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

/** What a key signs, and how: ES256 for bundles, Ed25519 (EdDSA) for the others. */
const ALG = {
  'bundle-signing': 'ES256',
  'feed-signing': 'EdDSA',
  'workflow-token': 'EdDSA',
  'delegation-token': 'EdDSA',
  'evidence-signing': 'EdDSA',
  'checkpoint-signing': 'EdDSA',
  'batch-signing': 'EdDSA',
} as const;
type Purpose = keyof typeof ALG;

/** What the service signs for evidence: packages, checkpoints of the log, batches of the admin chain. */
export const EVIDENCE_KEY_PURPOSES = ['evidence', 'checkpoint', 'batch'] as const;
export type EvidenceKeyPurpose = (typeof EVIDENCE_KEY_PURPOSES)[number];

/** A public key of the service, with the time in which it signs. */
export interface DatedKey {
  kid: string;
  purpose: Purpose;
  publicJwk: PublicJwk;
  from: Date;
  /** Null while it signs. */
  to: Date | null;
}

export interface SigningKey<P extends Purpose = Purpose> {
  kid: string;
  alg: (typeof ALG)[P];
  key: KeyObject;
  publicJwk: PublicJwk;
}

export interface ServiceKeys {
  /** The key that signs bundles now; made at the first call on a new database. */
  bundleSigningKey(): Promise<SigningKey<'bundle-signing'>>;
  /** All keys whose signatures on bundles are valid. */
  bundleVerificationKeys(): Promise<PublicJwk[]>;
  /** The key that signs statements about the feed now. */
  feedSigningKey(): Promise<SigningKey<'feed-signing'>>;
  /** All keys whose statements are valid. */
  feedVerificationKeys(): Promise<PublicJwk[]>;
  /** The key that signs the tokens of workflow sessions, or of delegations, now. */
  sessionTokenKey(kind: SessionTokenClass): Promise<SigningKey>;
  /** All keys whose tokens of that class are valid. */
  sessionTokenVerificationKeys(kind: SessionTokenClass): Promise<PublicJwk[]>;
  /** The key that signs evidence of that kind now. */
  evidenceKey(purpose: EvidenceKeyPurpose): Promise<SigningKey>;
  /** Every key of these purposes that ever was, the oldest first. */
  listKeys(purposes: readonly ServiceKeyPurpose[]): Promise<DatedKey[]>;
}

export type ServiceKeyPurpose = Purpose;

const LOCK = 'governance.service_keys';

export function createServiceKeys(deps: {
  db: Pick<TenantDatabase, 'inPlatform'>;
  masterKey: MasterKey;
}): ServiceKeys {
  const known = new Map<Purpose, Promise<SigningKey>>();

  function signingKey<P extends Purpose>(purpose: P): Promise<SigningKey<P>> {
    const key =
      known.get(purpose) ??
      findOrMakeSigningKey(deps, purpose).catch((error: unknown) => {
        // The database may have been unreachable: the next call tries again.
        known.delete(purpose);
        throw error;
      });
    known.set(purpose, key);
    // The map holds each purpose's own.
    return key as Promise<SigningKey<P>>;
  }

  const verificationKeys = (purpose: Purpose) =>
    deps.db.inPlatform(SYSTEM_ACTOR, async ({ db }) => {
      const rows = await db.serviceKey.findMany({
        where: { purpose, retiredAt: null },
        orderBy: { createdAt: 'desc' },
      });
      return rows.map((row) => JSON.parse(row.publicJwk) as PublicJwk);
    });

  return {
    bundleSigningKey: () => signingKey('bundle-signing'),
    bundleVerificationKeys: () => verificationKeys('bundle-signing'),
    feedSigningKey: () => signingKey('feed-signing'),
    feedVerificationKeys: () => verificationKeys('feed-signing'),
    sessionTokenKey: (kind) => signingKey(`${kind}-token`),
    sessionTokenVerificationKeys: (kind) => verificationKeys(`${kind}-token`),
    evidenceKey: (purpose) => signingKey(`${purpose}-signing`),
    listKeys: (purposes) =>
      deps.db.inPlatform(SYSTEM_ACTOR, async ({ db }) => {
        const rows = await db.serviceKey.findMany({
          where: { purpose: { in: [...purposes] } },
          orderBy: [{ createdAt: 'asc' }, { kid: 'asc' }],
        });
        return rows.map(({ kid, purpose, publicJwk, createdAt, retiredAt }) => ({
          kid,
          purpose: purpose as Purpose,
          publicJwk: JSON.parse(publicJwk) as PublicJwk,
          from: createdAt,
          to: retiredAt,
        }));
      }),
  };
}

async function findOrMakeSigningKey(
  { db, masterKey }: Parameters<typeof createServiceKeys>[0],
  purpose: Purpose,
): Promise<SigningKey> {
  const alg = ALG[purpose];
  return db.inPlatform(SYSTEM_ACTOR, async (tx) => {
    // Replicas that start together must not make one each.
    await tx.db.$queryRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))::text`;
    const row = await tx.db.serviceKey.findFirst({
      where: { purpose, retiredAt: null },
      orderBy: { createdAt: 'desc' },
    });
    if (row) {
      const der = masterKey.decrypt(row.privateCiphertext, { purpose, key: row.kid });
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return { kid: row.kid, alg, key, publicJwk: JSON.parse(row.publicJwk) as PublicJwk };
    }
    const { privateKey, publicKey } =
      alg === 'ES256'
        ? await generate('ec', { namedCurve: 'P-256' })
        : await generate('ed25519', undefined);
    const publicJwk = await toPublicJwk(publicKey, alg);
    const { kid } = publicJwk;
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    await tx.db.serviceKey.create({
      data: {
        kid,
        purpose,
        publicJwk: JSON.stringify(publicJwk),
        privateCiphertext: masterKey.encrypt(der, { purpose, key: kid }),
      },
    });
    return { kid, alg, key: privateKey, publicJwk };
  });
}

async function toPublicJwk(key: KeyObject, alg: string): Promise<PublicJwk> {
  const jwk = createPublicKey(
    key.type === 'public' ? key.export({ format: 'pem', type: 'spki' }) : key,
  ).export({ format: 'jwk' }) as JsonWebKey & { kty: string };
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' };
}
