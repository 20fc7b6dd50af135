/**
 * The rows of the service's keys and of their rotations. They belong to the platform, not to a
 * tenant.
 */
import { SignedRotation } from '@governance/shared/evidence/evidence-keys';
import { z } from 'zod';
import type { Prisma } from '../generated/client.ts';
import type { DatedLife } from './key-choice.ts';
import {
  PAYLOAD_SEALING,
  type PublicJwk,
  SERVICE_KEY_PURPOSES,
  type ServiceKeyPurpose,
} from './key-kinds.ts';
import type { RecordedRotation, StoredRotation } from './stored-rotation.ts';

/** As stored, with its private half encrypted. */
export interface KeyRow {
  kid: string;
  purpose: ServiceKeyPurpose;
  publicJwk: PublicJwk;
  privateCiphertext: Uint8Array<ArrayBuffer>;
  createdAt: Date;
  /** Null: since it was created. */
  validFrom: Date | null;
  /** Until when it signs; null while it has no successor. */
  retiredAt: Date | null;
  revokedAt: Date | null;
  revokeReason: string | null;
}

export const startOf = ({ validFrom, createdAt }: KeyRow): Date => validFrom ?? createdAt;

export const lifeOf = (row: KeyRow): DatedLife => ({
  from: startOf(row),
  to: row.retiredAt,
  revokedAt: row.revokedAt,
});

const LOCK = 'governance.service_keys';
/** Limits how many rows with an unknown purpose are listed. */
const MAX_STRAY = 100;

/** Stands for a damaged JWK: it matches no private half, so that only this row is unusable. */
const NO_JWK: PublicJwk = { kty: '', kid: '', alg: '', use: 'sig' };

/** Text without a canonical JSON form would make every reader throw. */
const Member = z
  .string()
  .max(4_000)
  .refine((text) => text.isWellFormed());
/** Private members are not allowed: such a row is never shown to anybody. */
const StoredJwk = z.strictObject({
  ...{ kty: Member.max(20), kid: Member, alg: Member, use: z.literal('sig') },
  ...{ crv: Member.optional(), x: Member.optional(), y: Member.optional() },
  ...{ n: Member.optional(), e: Member.optional() },
});

function parseJwk(text: string): PublicJwk {
  return parseStored(StoredJwk, text) ?? NO_JWK;
}

function parseStored<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** PostgreSQL stores dates that JavaScript lacks, such as infinity. */
export const isDate = (date: Date): boolean => !Number.isNaN(date.getTime());

const sortTime = (row: KeyRow): number => (isDate(startOf(row)) ? startOf(row).getTime() : 0);

/** @param tx of the platform; a tenant's can only read rotations */
export function keyStore({ db }: { db: Prisma.TransactionClient }) {
  return {
    /** Serialises changes of keys across all replicas. */
    lock: async (): Promise<void> => {
      await db.$queryRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))::text`;
    },

    /** Oldest first. */
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
      return keys.sort((a, b) => sortTime(a) - sortTime(b));
    },

    /** Ids of rows with an unknown purpose: readers of a purpose never see them. */
    listStrayKids: async (): Promise<string[]> => {
      const rows = await db.serviceKey.findMany({
        where: { purpose: { notIn: [...SERVICE_KEY_PURPOSES, PAYLOAD_SEALING] } },
        orderBy: { kid: 'asc' },
        select: { kid: true },
        take: MAX_STRAY,
      });
      return rows.map(({ kid }) => kid);
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

    /** All of them, oldest first. */
    listRotations: async (): Promise<RecordedRotation[]> => {
      const rows = await db.serviceKeyRotation.findMany({ orderBy: { number: 'asc' } });
      return rows.map(({ signed, actorId, actorUsername, ...row }) => ({
        ...row,
        purpose: SERVICE_KEY_PURPOSES.find((one) => one === row.purpose) ?? null,
        signed: parseStored(SignedRotation, signed),
        actor: { id: actorId, username: actorUsername },
      }));
    },
  };
}
