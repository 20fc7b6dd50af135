/**
 * Installer tokens (specification 1, section 8; specification 2, "Client setup"): 15 minutes, one
 * use, one agent and one client. The use, the credential, its fact and the audit records commit
 * together. Proven by installer-routes.pg.test.ts.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { addressGroup } from '@governance/shared/http/client-address';
import { createExactLimiter } from '@governance/shared/http/rate-limiter';
import { uuidv7 } from '@governance/shared/ids';
import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import { createCredential } from '../agent-credentials/create-credential.ts';
import { effectiveStatus } from '../agents/agent.ts';
import { agentStore } from '../agents/agent-store.ts';
import { readKillSwitch } from '../kill-switch/kill-switch-store.ts';
import type { Lookups } from '../platform/database/lookups.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createSecret, hashSecret } from '../platform/random-secret.ts';
import { installerStore } from './installer-store.ts';
import {
  INSTALLER_TOKEN_MS,
  type InstallerToken,
  MAX_OPEN_INSTALLER_TOKENS,
} from './installer-token.ts';

/** Wrong tokens allowed per address and hour, as for sign-ups. */
const WRONG_BY_ADDRESS = 5;
const WINDOW_MS = 60 * 60 * 1000;

export interface InstallerServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  lookups: Pick<Lookups, 'findInstallerToken'>;
  applied: AppliedBarrier;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export interface Redemption {
  secret: string;
  /** The client that the token must be for. */
  client: McpClient;
}

export type InstallerService = ReturnType<typeof createInstallerService>;

export function createInstallerService(deps: InstallerServiceDeps) {
  const { db, lookups, applied, now, limitClock: elapsed } = deps;
  const wrongByAddress = createExactLimiter({
    limit: WRONG_BY_ADDRESS,
    windowMs: WINDOW_MS,
    elapsed,
  });

  const refuse = (place: string): never => {
    wrongByAddress.check(place);
    wrongByAddress.count(place);
    throw new AppError('INSTALLER_TOKEN_INVALID');
  };

  return {
    /**
     * @returns the token's record, and its secret, which is shown only here
     * @throws AppError AGENT_NOT_FOUND, AGENT_DEPROVISIONED, INSTALLER_TOKEN_LIMIT_REACHED
     */
    issue: (scope: TenantScope, input: Pick<InstallerToken, 'agentId' | 'label' | 'client'>) =>
      db.inTenant(scope, (tx) => issue(tx, input, now())),

    /** @throws AppError AGENT_NOT_FOUND */
    list: (scope: TenantScope, agentId: string, page: Page) =>
      db.inTenant(scope, async (tx) => {
        if (!(await agentStore(tx).find(agentId))) throw new AppError('AGENT_NOT_FOUND');
        return installerStore(tx).list(agentId, page);
      }),

    /** Has no effect on one that has ended. @throws AppError INSTALLER_TOKEN_NOT_FOUND */
    revoke: (scope: TenantScope, agentId: string, id: string): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        const store = installerStore(tx);
        const token = await store.find(id);
        if (token?.agentId !== agentId) throw new AppError('INSTALLER_TOKEN_NOT_FOUND');
        if (!(await store.revoke(id, now()))) return;
        tx.audit.append({
          action: 'installer_token_revoked',
          target: `agent/${agentId}/installer_token/${id}`,
          details: { label: token.label, client: token.client },
        });
      }),

    /**
     * Returns once the local data plane knows the credential. Wrong tokens are limited by address;
     * they never block a correct one. A failed redemption does not consume the token.
     *
     * @throws AppError INSTALLER_TOKEN_INVALID, INSTALLER_TOKEN_OTHER_CLIENT, AGENT_SUSPENDED,
     * AGENT_CREDENTIAL_LIMIT_REACHED, RATE_LIMITED
     */
    redeem: async (
      { secret, client }: Redemption,
      request: { address: string; id: string },
    ): Promise<Redeemed> => {
      const place = addressGroup(request.address);
      const owner = await lookups.findInstallerToken(hashSecret(secret));
      if (!owner) return refuse(place);
      const { tenantId, id } = owner;
      const actor = { id, username: `installer-token:${id}`, role: 'system' } as const;
      const scope: TenantScope = { tenantId, actor, requestId: request.id };
      const { result, feedSeq } = await db.inTenantWithHeads(scope, (tx) =>
        redeem(tx, id, client, now()),
      );
      if (!result) return refuse(place);
      if (feedSeq !== undefined) await applied.wait(tenantId, { feedSeq });
      return result;
    },
  };
}

type Redeemed = Awaited<ReturnType<typeof createCredential>> & { agentName: string };

async function issue(
  tx: TenantTransaction,
  { agentId, label, client }: Pick<InstallerToken, 'agentId' | 'label' | 'client'>,
  now: Date,
): Promise<{ token: InstallerToken; secret: string }> {
  const agent = await agentStore(tx).lock(agentId);
  if (!agent) throw new AppError('AGENT_NOT_FOUND');
  if (agent.status === 'deprovisioned') throw new AppError('AGENT_DEPROVISIONED');
  const store = installerStore(tx);
  await store.prune(agentId, now);
  if ((await store.countOpen(agentId, now)) >= MAX_OPEN_INSTALLER_TOKENS) {
    throw new AppError('INSTALLER_TOKEN_LIMIT_REACHED');
  }
  const { secret, hash } = createSecret('ins_');
  const expiresAt = new Date(now.getTime() + INSTALLER_TOKEN_MS);
  const token: InstallerToken = {
    ...{ id: uuidv7(now.getTime()), agentId, label, client },
    ...{ createdBy: tx.scope.actor.username, createdAt: now, expiresAt },
    ...{ usedAt: null, revokedAt: null, credentialId: null },
  };
  await store.insert(token, hash);
  tx.audit.append({
    action: 'installer_token_issued',
    target: `agent/${agentId}/installer_token/${token.id}`,
    details: { label, client, expires_at: expiresAt.toISOString() },
  });
  return { token, secret };
}

/** @returns undefined when the token is no longer valid */
async function redeem(
  tx: TenantTransaction,
  id: string,
  client: McpClient,
  now: Date,
): Promise<Redeemed | undefined> {
  const store = installerStore(tx);
  const token = await store.find(id);
  // The agent is locked first, as everywhere; a concurrent use of the token is detected by
  // `store.use`.
  const agent = token && (await agentStore(tx).lock(token.agentId));
  if (!token || !agent) return undefined;
  const { label, agentId } = token;
  const isOver = token.usedAt !== null || token.revokedAt !== null || token.expiresAt <= now;
  if (isOver) return undefined;
  if (token.client !== client) {
    throw new AppError('INSTALLER_TOKEN_OTHER_CLIENT', `The token is for ${token.client}.`);
  }
  const isActive = effectiveStatus(agent, await readKillSwitch(tx)) === 'active';
  if (!isActive) throw new AppError('AGENT_SUSPENDED');
  const credentialId = uuidv7(now.getTime());
  if (!(await store.use(id, credentialId, now))) return undefined;
  const made = await createCredential(tx, { id: credentialId, agentId, label, client }, now);
  tx.audit.append({
    action: 'installer_token_redeemed',
    target: `agent/${agentId}/installer_token/${id}`,
    details: { label, client, credential_id: credentialId },
  });
  return { ...made, agentName: agent.name };
}
