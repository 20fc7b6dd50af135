/** The rows of the service's keys and of their rotations: the platform's, not a tenant's. */
import { SignedRotation } from '@governance/shared/evidence/evidence-keys';
import type { Prisma } from './generated/client.ts';
import type { PublicJwk, ServiceKeyPurpose } from './key-kinds.ts';
import type { StoredRotation } from './stored-rotation.ts';

/** As it is stored; its private half encrypted. */
export interface KeyRow {
  kid: string;
  purpose: ServiceKeyPurpose;
  publicJwk: PublicJwk;
  privateCiphertext: Uint8Array<ArrayBuffer>;
  createdAt: Date;
  /** Null: since it was made. */
  validFrom: Date | null;
  /** Until when it signs. */
  retiredAt: Date | null;
  revokedAt: Date | null;
  revokeReason: string | null;
}

export const startOf = ({ validFrom, createdAt }: KeyRow): Date => validFrom ?? createdAt;

const LOCK = 'governance.service_keys';

/** Of a row that was damaged: fits no private half, so that this row alone cannot be used. */
const NO_JWK: PublicJwk = { kty: '', kid: '', alg: '', use: 'sig' };

function parseJwk(text: string): PublicJwk {
  try {
    return (JSON.parse(text) as PublicJwk | null) ?? NO_JWK;
  } catch {
    return NO_JWK;
  }
}

/** @param tx of the platform; a tenant's may read rotations */
export function keyStore({ db }: { db: Prisma.TransactionClient }) {
  return {
    /** One change of keys at a time, in all replicas. */
    lock: async (): Promise<void> => {
      await db.$queryRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))::text`;
    },

    /** The oldest first. */
    list: async (purposes: readonly ServiceKeyPurpose[]): Promise<KeyRow[]> => {
      const rows = await db.serviceKey.findMany({
        where: { purpose: { in: [...purposes] } },
        orderBy: [{ createdAt: 'asc' }, { kid: 'asc' }],
      });
      const keys = rows.map((row) => ({
        ...row,
        purpose: row.purpose as ServiceKeyPurpose,
        publicJwk: parseJwk(row.publicJwk),
      }));
      return keys.sort((a, b) => startOf(a).getTime() - startOf(b).getTime());
    },

    insert: async (row: KeyRow): Promise<void> => {
      await db.serviceKey.create({ data: { ...row, publicJwk: JSON.stringify(row.publicJwk) } });
    },

    end: async (
      kid: string,
      retiredAt: Date,
      revoked: { at: Date; reason: string | null } | null,
    ): Promise<void> => {
      const revocation = revoked && { revokedAt: revoked.at, revokeReason: revoked.reason };
      await db.serviceKey.update({ where: { kid }, data: { retiredAt, ...revocation } });
    },

    /** 0 before the first rotation. */
    lastNumber: async (): Promise<number> => {
      const { _max } = await db.serviceKeyRotation.aggregate({ _max: { number: true } });
      return _max.number ?? 0;
    },

    insertRotation: async ({ signed, actor, ...rotation }: StoredRotation): Promise<void> => {
      await db.serviceKeyRotation.create({
        data: {
          ...rotation,
          signed: JSON.stringify(signed),
          actorId: actor.id,
          actorUsername: actor.username,
        },
      });
    },

    /** The oldest first. */
    listRotations: async (
      purposes: readonly ServiceKeyPurpose[],
      after = 0,
    ): Promise<StoredRotation[]> => {
      const rows = await db.serviceKeyRotation.findMany({
        where: { purpose: { in: [...purposes] }, number: { gt: after } },
        orderBy: { number: 'asc' },
      });
      return rows.map(({ signed, actorId, actorUsername, ...row }) => ({
        ...row,
        purpose: row.purpose as ServiceKeyPurpose,
        signed: SignedRotation.parse(JSON.parse(signed)),
        actor: { id: actorId, username: actorUsername },
      }));
    },
  };
}
