/**
 * Every column that the master key encrypts, and what each ciphertext is bound to. A change of the
 * master key re-encrypts only the columns listed here, so no other column may be encrypted. Proven
 * by master-key/rewrap.pg.test.ts, which looks for uses that are not listed.
 */
import type { CipherContext } from './master-key.ts';

/** The parts of a row that make its context. */
export interface CiphertextRow {
  /** Undefined for a row of the platform. */
  tenantId: string | undefined;
  /** The row's key within its tenant, or within the platform. */
  id: string;
  /** Empty where the table has no such column. */
  purpose: string;
}

export interface CiphertextKind {
  table: string;
  column: string;
  idColumn: string;
  purposeColumn?: string;
  owner: 'platform' | 'tenant';
  /** Only the rows with this value in this column; all rows unless given. */
  only?: { column: string; value: string };
  /** The source files that encrypt it. */
  filledBy: readonly string[];
  contextOf(row: CiphertextRow): CipherContext;
}

export const serviceKeyContext = (purpose: string, kid: string): CipherContext => ({
  purpose,
  key: kid,
});

export const upstreamCredentialContext = (tenantId: string, serverId: string): CipherContext => ({
  purpose: 'upstream-credential',
  tenant_id: tenantId,
  key: serverId,
});

export const identifierKeyContext = (tenantId: string): CipherContext => ({
  purpose: 'identifier-key',
  tenant_id: tenantId,
  key: tenantId,
});

export const dataKeyContext = (tenantId: string, purpose: string): CipherContext => ({
  purpose: 'data-key',
  tenant_id: tenantId,
  key: purpose,
});

/** The names are those that the SQL function count_ciphertexts() uses. */
export const CIPHERTEXT_KINDS = {
  service_key: {
    table: 'service_keys',
    column: 'private_ciphertext',
    idColumn: 'kid',
    purposeColumn: 'purpose',
    owner: 'platform',
    filledBy: ['platform/keys/key-maker.ts', 'payloads/payload-sealing-key.ts'],
    contextOf: ({ purpose, id }) => serviceKeyContext(purpose, id),
  },
  upstream_credential: {
    table: 'mcp_servers',
    column: 'credential_ciphertext',
    idColumn: 'server_id',
    owner: 'tenant',
    filledBy: ['mcp-servers/credential-at-rest.ts'],
    contextOf: ({ tenantId, id }) => upstreamCredentialContext(tenantId ?? '', id),
  },
  identifier_key: {
    table: 'data_protection_policies',
    column: 'identifier_key_ciphertext',
    idColumn: 'tenant_id',
    owner: 'tenant',
    filledBy: ['data-protection/identifier-key.ts'],
    contextOf: ({ tenantId }) => identifierKeyContext(tenantId ?? ''),
  },
  data_key: {
    table: 'data_keys',
    column: 'wrapped',
    idColumn: 'id',
    purposeColumn: 'purpose',
    owner: 'tenant',
    only: { column: 'provider', value: 'local' },
    filledBy: ['key-management/local-provider.ts'],
    contextOf: ({ tenantId, purpose }) => dataKeyContext(tenantId ?? '', purpose),
  },
} as const satisfies Record<string, CiphertextKind>;
