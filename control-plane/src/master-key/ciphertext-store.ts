/** Reads and replaces the ciphertexts in all tables of CIPHERTEXT_KINDS. */
import { z } from 'zod';
import { Prisma } from '../platform/generated/client.ts';
import type { CiphertextKind, CiphertextRow } from '../platform/keys/ciphertext-kinds.ts';

type Transaction = { db: Prisma.TransactionClient };

export interface StoredCiphertext extends CiphertextRow {
  ciphertext: Uint8Array<ArrayBuffer>;
}

const Counts = z.array(z.object({ kind: z.string(), master_key: z.string(), count: z.number() }));

export type CiphertextCounts = z.infer<typeof Counts>;

/** Bytes 2 to 9 of a ciphertext name its master key. */
const keyNameOf = (column: Prisma.Sql) =>
  Prisma.sql`encode(substring(${column} FROM 2 FOR 8), 'hex')`;

/**
 * The number of ciphertexts of each kind under each master key, over all tenants and the platform.
 */
export async function countCiphertexts({ db }: Transaction): Promise<CiphertextCounts> {
  return Counts.parse(
    await db.$queryRaw`
      SELECT kind, master_key, sum(ciphertexts)::float8 AS count FROM count_ciphertexts()
      GROUP BY kind, master_key ORDER BY kind, master_key`,
  );
}

/** The next tenants, by id, with ciphertexts under one of these keys. */
export async function findTenantsUnder(
  { db }: Transaction,
  keyIds: readonly string[],
  { after, limit }: { after: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT tenant_id::text AS id FROM count_ciphertexts()
    WHERE master_key = ANY(${[...keyIds]}) AND tenant_id::text > ${after ?? ''}
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * @param tenantId undefined for the platform's kinds
 * @param keyIds the master keys they are encrypted under
 */
export function ciphertextStore(
  { db }: Transaction,
  kind: CiphertextKind,
  tenantId: string | undefined,
) {
  // Raw SQL is safe here, since the names are constants of CIPHERTEXT_KINDS.
  const [table, column, id] = [kind.table, kind.column, kind.idColumn].map((name) =>
    Prisma.raw(name),
  ) as [Prisma.Sql, Prisma.Sql, Prisma.Sql];
  const purpose = kind.purposeColumn ? Prisma.raw(kind.purposeColumn) : Prisma.sql`''`;
  const ofTenant =
    tenantId === undefined ? Prisma.empty : Prisma.sql`AND tenant_id = ${tenantId}::uuid`;
  const only = kind.only
    ? Prisma.sql`AND ${Prisma.raw(kind.only.column)} = ${kind.only.value}`
    : Prisma.empty;
  return {
    /** The next ciphertexts under these keys, by id. */
    list: async (
      keyIds: readonly string[],
      { after, limit }: { after: string; limit: number },
    ): Promise<StoredCiphertext[]> => {
      const rows = await db.$queryRaw<Omit<StoredCiphertext, 'tenantId'>[]>`
        SELECT ${id}::text AS id, ${purpose} AS purpose, ${column} AS ciphertext FROM ${table}
        WHERE ${id}::text > ${after} AND ${keyNameOf(column)} = ANY(${[...keyIds]})
          ${ofTenant} ${only}
        ORDER BY ${id}::text LIMIT ${limit}`;
      return rows.map((row) => ({ ...row, tenantId }));
    },

    /** @returns whether it was unchanged since it was read, and is now replaced */
    exchange: async (row: StoredCiphertext, fresh: Uint8Array<ArrayBuffer>): Promise<boolean> => {
      const changed = await db.$executeRaw`
        UPDATE ${table} SET ${column} = ${fresh}
        WHERE ${id}::text = ${row.id} AND ${column} = ${row.ciphertext} ${ofTenant} ${only}`;
      return changed === 1;
    },
  };
}
