/**
 * Credentials of an agent beside its first one. Each change commits with its fact, and returns when
 * the local data plane enforces it. Proven by credential-routes.pg.test.ts.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { agentStore } from '../agents/agent-store.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createSecret } from '../platform/random-secret.ts';
import { createCredential, type NewCredential } from './create-credential.ts';
import { type AgentCredential, toCredentialFact } from './credential.ts';
import { credentialStore } from './credential-store.ts';

const KIND = 'optional.agent_credential';

export interface CredentialServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  now: () => Date;
}

export type CredentialService = ReturnType<typeof createCredentialService>;

export function createCredentialService({ db, applied, now }: CredentialServiceDeps) {
  async function change<T>(scope: TenantScope, work: (tx: TenantTransaction) => Promise<T>) {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, work);
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    /** @throws AppError AGENT_NOT_FOUND */
    list: (scope: TenantScope, agentId: string): Promise<AgentCredential[]> =>
      db.inTenant(scope, async (tx) => {
        if (!(await agentStore(tx).find(agentId))) throw new AppError('AGENT_NOT_FOUND');
        return credentialStore(tx).list(agentId);
      }),

    /**
     * @returns the credential, and its secret, which is shown only here
     * @throws AppError AGENT_NOT_FOUND, AGENT_DEPROVISIONED, AGENT_CREDENTIAL_LIMIT_REACHED
     */
    create: (scope: TenantScope, input: NewCredential) =>
      change(scope, async (tx) => {
        await lockAgent(tx, input.agentId, { mayBeOver: false });
        return createCredential(tx, input, now());
      }),

    /**
     * Issues a new secret; the old one, its tokens and its sessions end.
     *
     * @throws AppError AGENT_NOT_FOUND, AGENT_CREDENTIAL_NOT_FOUND, AGENT_DEPROVISIONED
     */
    rotate: (scope: TenantScope, agentId: string, id: string) =>
      change(scope, async (tx) => {
        const { secret, hash: secretHash } = createSecret();
        const found = await lockCredential(tx, agentId, id, { mayBeOver: false });
        const version = found.version + 1;
        const rotatedAt = now();
        const credential = await credentialStore(tx).rotate(id, { secretHash, version, rotatedAt });
        tx.feed.append({ kind: KIND, key: id, value: toCredentialFact(credential) });
        tx.audit.append({
          action: 'agent_credential_rotated',
          target: `agent/${agentId}/credential/${id}`,
          details: { label: found.label, client: found.client, version },
        });
        return { credential, secret, rotatedAt };
      }),

    /**
     * Ends the credential, its tokens and its sessions; the agent's others stay.
     *
     * @throws AppError AGENT_NOT_FOUND, AGENT_CREDENTIAL_NOT_FOUND
     */
    revoke: (scope: TenantScope, agentId: string, id: string): Promise<void> =>
      change(scope, async (tx) => {
        const found = await lockCredential(tx, agentId, id, { mayBeOver: true });
        await credentialStore(tx).remove(id);
        tx.feed.append({ kind: KIND, key: id, value: null });
        tx.audit.append({
          action: 'agent_credential_revoked',
          target: `agent/${agentId}/credential/${id}`,
          details: { label: found.label, client: found.client, client_id: found.clientId },
        });
      }),
  };
}

/** Serialises changes of an agent's credentials, so that their facts are in the same order. */
async function lockAgent(
  tx: TenantTransaction,
  agentId: string,
  { mayBeOver }: { mayBeOver: boolean },
): Promise<void> {
  const agent = await agentStore(tx).lock(agentId);
  if (!agent) throw new AppError('AGENT_NOT_FOUND');
  if (agent.status === 'deprovisioned' && !mayBeOver) throw new AppError('AGENT_DEPROVISIONED');
}

async function lockCredential(
  tx: TenantTransaction,
  agentId: string,
  id: string,
  rule: { mayBeOver: boolean },
): Promise<AgentCredential> {
  await lockAgent(tx, agentId, rule);
  const credential = await credentialStore(tx).find(agentId, id);
  if (!credential) throw new AppError('AGENT_CREDENTIAL_NOT_FOUND');
  return credential;
}
