/** Rows of data planes and tokens with what is attested of them. */
import { DAY_MS } from '@governance/shared/time/durations';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { Attestation } from '../platform/keys/row-attestations.ts';
import type { PlaneRow, TokenRow } from './plane-statements.ts';

/** A data plane that secrets are sealed for, if its rows are what was registered. */
export interface TargetRow extends PlaneRow {
  /** Its newest token that was not revoked; null for the local one. */
  token: TokenRow | null;
}

/** Tokens that ended longer ago are believed by nobody, not even for a backlog. */
const BELIEVED_MS = 8 * DAY_MS;

const PLANE = Prisma.sql`p.deployment_id AS "deploymentId", p.signing_key AS "signingKey",
  p.sealing_key AS "sealingKey", p.token_key AS "tokenKey", p.record_id AS "recordId", p.attestation,
  EXISTS (SELECT 1 FROM data_plane_tokens own WHERE own.tenant_id = p.tenant_id
    AND own.deployment_id = p.deployment_id) AS "hasTokens"`;

const TOKEN = Prisma.sql`t.id, t.token_hash AS "tokenHash", t.deployment_id AS "deploymentId",
  t.root_id AS "rootId", t.region, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
  t.issued_until AS "issuedUntil", t.revoked_at AS "revokedAt", t.record_id AS "recordId", t.attestation`;

/**
 * Times that can be read (damaged-rows.ts): a token with another was damaged, nobody is let in with
 * it, and the others must neither miss a secret for it nor the service its start.
 */
const IS_READABLE = Prisma.sql`(
  SELECT min(at) >= '0001-01-01 00:00:00Z' AND max(at) < '10000-01-01 00:00:00Z'
  FROM unnest(ARRAY[t.created_at, t.expires_at, t.issued_until, t.revoked_at]) AS times (at))`;

export function planeRows({ db, scope: { tenantId } }: TenantTransaction) {
  /** @param of their ids; null: all */
  const readActive = (of: readonly string[] | null = null) =>
    db.$queryRaw<PlaneRow[]>`
      SELECT ${PLANE} FROM data_planes p
      WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
        AND (${of}::uuid[] IS NULL OR p.deployment_id = ANY (${of}::uuid[]))
      ORDER BY p.deployment_id`;

  return {
    readActive,

    /**
     * Left out are revoked and forked data planes, and those whose tokens were all revoked; the
     * latter are sealed for again when they register with another root. One that never had a token
     * is the local data plane and is included.
     */
    readTargets: async (): Promise<TargetRow[]> => {
      const planes = await readActive();
      const tokens = await db.$queryRaw<TokenRow[]>`
        SELECT DISTINCT ON (t.deployment_id) ${TOKEN} FROM data_plane_tokens t
        WHERE t.tenant_id = ${tenantId}::uuid AND t.deployment_id IS NOT NULL
          AND t.revoked_at IS NULL AND ${IS_READABLE}
        ORDER BY t.deployment_id, t.id DESC`;
      const newest = new Map(tokens.map((token) => [token.deploymentId, token]));
      return planes
        .map((plane) => ({ ...plane, token: newest.get(plane.deploymentId) ?? null }))
        .filter(({ hasTokens, token }) => !hasTokens || token !== null);
    },

    findToken: async (id: string): Promise<TokenRow | undefined> => {
      const rows = await db.$queryRaw<TokenRow[]>`
        SELECT ${TOKEN} FROM data_plane_tokens t
        WHERE t.tenant_id = ${tenantId}::uuid AND t.id = ${id}::uuid`;
      return rows[0];
    },

    /** Some tokens, and the roots that they derive from. */
    findTokens: (ids: readonly string[]): Promise<TokenRow[]> =>
      db.$queryRaw<TokenRow[]>`
        SELECT ${TOKEN} FROM data_plane_tokens t
        WHERE t.tenant_id = ${tenantId}::uuid AND (t.id = ANY (${ids}::uuid[]) OR t.id IN (
          SELECT child.root_id FROM data_plane_tokens child
          WHERE child.tenant_id = ${tenantId}::uuid AND child.id = ANY (${ids}::uuid[])))`,

    /**
     * Those that somebody may still be let in with, and all roots; newest first.
     *
     * @param isUnsigned only those without any attestation
     */
    readTokens: (now: Date, { isUnsigned = false } = {}): Promise<TokenRow[]> => {
      const since = new Date(now.getTime() - BELIEVED_MS);
      return db.$queryRaw<TokenRow[]>`
        SELECT ${TOKEN} FROM data_plane_tokens t
        WHERE t.tenant_id = ${tenantId}::uuid AND (t.revoked_at IS NULL OR t.revoked_at > ${since})
          AND (t.root_id IS NULL OR t.expires_at IS NULL OR t.expires_at > ${since})
          AND (t.attestation IS NULL OR NOT ${isUnsigned}::boolean) AND ${IS_READABLE}
        ORDER BY t.id DESC`;
    },

    attestPlanes: async (attested: ReadonlyMap<string, Attestation>): Promise<void> => {
      await db.$executeRaw`
        UPDATE data_planes p SET record_id = new.record_id, attestation = new.attestation
        FROM ${listOf(attested)} WHERE p.tenant_id = ${tenantId}::uuid
          AND p.deployment_id = new.id`;
    },

    /** What they end by now counts as the end that they were issued with. */
    attestTokens: async (attested: ReadonlyMap<string, Attestation>): Promise<void> => {
      await db.$executeRaw`
        UPDATE data_plane_tokens t SET record_id = new.record_id, attestation = new.attestation,
          issued_until = t.expires_at
        FROM ${listOf(attested)} WHERE t.tenant_id = ${tenantId}::uuid AND t.id = new.id`;
    },
  };
}

function listOf(attested: ReadonlyMap<string, Attestation>): Prisma.Sql {
  const rows = [...attested.values()];
  return Prisma.sql`unnest(${[...attested.keys()]}::uuid[],
    ${rows.map(({ recordId }) => recordId)}::uuid[],
    ${rows.map(({ attestation }) => attestation)}::text[]) AS new (id, record_id, attestation)`;
}
