/** A token with which agents register themselves: how many, until when, and with which roles. */
import { createHash, randomBytes } from 'node:crypto';
import { ENTRY_NAME } from '@governance/shared/mcp-clients';

export interface EnrollmentToken {
  id: string;
  label: string;
  roleIds: string[];
  maxUses: number;
  uses: number;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

/** The highest number of usable tokens of a tenant. */
export const MAX_OPEN_TOKENS = 200;
/** How long ended tokens stay listed. */
export const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000;

/** 256 random bits behind a prefix that secret scanners recognise. */
export function createEnrollmentSecret(): { secret: string; hash: string } {
  const secret = `enr_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashEnrollmentSecret(secret) };
}

/** No salt and no slow hash, since 256 random bits cannot be guessed. */
export function hashEnrollmentSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The entry that an MCP client adds to its configuration, beside existing entries. */
export function clientConfig(gatewayUrl: string, authorization: string) {
  return {
    mcpServers: {
      [ENTRY_NAME]: { type: 'http', url: gatewayUrl, headers: { Authorization: authorization } },
    },
  };
}
