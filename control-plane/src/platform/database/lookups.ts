/**
 * The look-ups that come before a tenant is known: each is a SECURITY DEFINER function that reads
 * a few columns of one row by a secret or a name that the caller has to know.
 */
import type { AdminRole } from '../admin-role.ts';
import type { Connections } from './database.ts';
import { createGatheredReads } from './gathered-reads.ts';

export interface Login {
  tenantId: string;
  id: string;
  /** As stored: the request may use another case. */
  username: string;
  passwordHash: string;
  role: AdminRole;
  status: 'active' | 'disabled';
  tokenVersion: number;
}

export interface ClientOwner {
  tenantId: string;
  agentId: string;
  /** Null: the agent's first one. */
  credentialId: string | null;
  /** SHA-256 of the client secret, lower-case hexadecimal. */
  secretHash: string;
}

export interface DataPlaneTokenOwner {
  tenantId: string;
  id: string;
  deploymentId: string | null;
  rootId: string | null;
  region: string;
  createdAt: Date;
  expiresAt: Date | null;
  /** Its end when it was issued; null: none, or a row of an earlier version. */
  issuedUntil: Date | null;
  revokedAt: Date | null;
  recordId: string | null;
  attestation: string | null;
}

export interface EnrollmentTokenOwner {
  tenantId: string;
  id: string;
}

export interface InstallerTokenOwner {
  tenantId: string;
  id: string;
}

export interface Lookups {
  /** Ignores case; prefers an exact match. */
  findLogin(username: string): Promise<Login | undefined>;
  /** Look-ups are batched (gathered-reads.ts), so that invented client ids cost few queries. */
  findClient(clientId: string): Promise<ClientOwner | undefined>;
  /**
   * The row as of this call or later. Batched too.
   *
   * @param tokenHash SHA-256 of the token, lower-case hexadecimal
   */
  findDataPlaneToken(tokenHash: string): Promise<DataPlaneTokenOwner | undefined>;
  /** Gathered too. @param tokenHash SHA-256 of the token, lower-case hexadecimal */
  findEnrollmentToken(tokenHash: string): Promise<EnrollmentTokenOwner | undefined>;
  /** Gathered too. @param tokenHash SHA-256 of the token, lower-case hexadecimal */
  findInstallerToken(tokenHash: string): Promise<InstallerTokenOwner | undefined>;
}

export function createLookups({ prisma }: Pick<Connections, 'prisma'>): Lookups {
  return {
    findLogin: async (username) =>
      (
        await prisma.$queryRaw<Login[]>`
          SELECT tenant_id AS "tenantId", id, username, password_hash AS "passwordHash", role,
            status, token_version AS "tokenVersion"
          FROM find_administrator(${username})`
      )[0],
    findClient: createGatheredReads({
      read: async (clientIds) => {
        const rows = await prisma.$queryRaw<(ClientOwner & { clientId: string })[]>`
          SELECT wanted.client_id AS "clientId", tenant_id AS "tenantId", agent_id AS "agentId",
            credential_id AS "credentialId", secret_hash AS "secretHash"
          FROM unnest(${clientIds}::text[]) AS wanted (client_id),
            find_client_credential(wanted.client_id)`;
        return new Map(rows.map(({ clientId, ...owner }) => [clientId, owner]));
      },
    }),
    // Every poll of a data plane looks up its token, and one change may end a thousand polls at
    // once.
    findDataPlaneToken: createGatheredReads({
      read: async (hashes) => {
        const rows = await prisma.$queryRaw<(DataPlaneTokenOwner & { hash: string })[]>`
          SELECT wanted.hash, tenant_id AS "tenantId", id, deployment_id AS "deploymentId",
            root_id AS "rootId", region, created_at AS "createdAt", expires_at AS "expiresAt",
            issued_until AS "issuedUntil", revoked_at AS "revokedAt", record_id AS "recordId",
            attestation
          FROM unnest(${hashes}::text[]) AS wanted (hash), find_attested_token(wanted.hash)`;
        return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
      },
    }),
    findEnrollmentToken: createGatheredReads({
      read: async (hashes) => {
        const rows = await prisma.$queryRaw<(EnrollmentTokenOwner & { hash: string })[]>`
          SELECT wanted.hash, tenant_id AS "tenantId", id
          FROM unnest(${hashes}::text[]) AS wanted (hash), find_enrollment_token(wanted.hash)`;
        return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
      },
    }),
    findInstallerToken: createGatheredReads({
      read: async (hashes) => {
        const rows = await prisma.$queryRaw<(InstallerTokenOwner & { hash: string })[]>`
          SELECT wanted.hash, tenant_id AS "tenantId", id
          FROM unnest(${hashes}::text[]) AS wanted (hash), find_installer_token(wanted.hash)`;
        return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
      },
    }),
  };
}
