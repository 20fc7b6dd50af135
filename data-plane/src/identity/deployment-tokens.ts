/**
 * The tokens of this data plane's deployments, one per tenant, and which of the operator's tokens
 * each came of: a start without a control plane serves by them. Files of mode 0600.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeploymentToken } from '@governance/shared/channel/channels';
import { isUuid } from '@governance/shared/ids';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';

const KeptToken = z.strictObject({
  /** SHA-256 of the token that the operator configured. */
  root_hash: Sha256Hex,
  token: DeploymentToken.shape.token,
  expires_at: Timestamp.nullable(),
  received_at: Timestamp,
});
export type KeptToken = z.infer<typeof KeptToken>;

export type DeploymentTokens = ReturnType<typeof loadDeploymentTokens>;

export function loadDeploymentTokens(dataDir: string) {
  const folder = join(dataDir, 'identity', 'tokens');
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  /** An unreadable file counts as missing: the plane registers again. */
  function read(tenantId: string): KeptToken | undefined {
    try {
      const text = readFileSync(join(folder, `${tenantId}.json`), 'utf8');
      return KeptToken.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  return {
    /** The tenant that a configured token belongs to, and the token it was exchanged for. */
    findByRoot: (root: string): { tenantId: string; kept: KeptToken } | undefined => {
      const rootHash = hash('sha256', root, 'hex');
      for (const file of readdirSync(folder)) {
        const tenantId = file.replace(/\.json$/, '');
        const kept = isUuid(tenantId) ? read(tenantId) : undefined;
        if (kept?.root_hash === rootHash) return { tenantId, kept };
      }
      return undefined;
    },
    save: (tenantId: string, root: string, token: Omit<KeptToken, 'root_hash'>): void => {
      if (!isUuid(tenantId)) throw new TypeError('a tenant id is a lower-case UUID');
      const kept: KeptToken = { root_hash: hash('sha256', root, 'hex'), ...token };
      writeFileDurably(join(folder, `${tenantId}.json`), `${JSON.stringify(kept)}\n`);
    },
  };
}
