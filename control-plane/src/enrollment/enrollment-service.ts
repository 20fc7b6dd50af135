/**
 * Agents that register themselves with a token. The use of the token, the agent, its fact and its
 * audit records commit together. Proven by enrollment-routes.pg.test.ts.
 */

import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { addressGroup } from '@governance/shared/http/client-address';
import { createRateLimiter } from '@governance/shared/http/rate-limiter';
import { uuidv7 } from '@governance/shared/ids';
import { HOUR_MS } from '@governance/shared/time/durations';
import { type Agent, effectiveStatus } from '../agents/agent.ts';
import { type AgentInput, registerAgent } from '../agents/register-agent.ts';
import { requireRoomOfAgent } from '../agents/role-limits.ts';
import { readKillSwitch } from '../kill-switch/kill-switch-store.ts';
import type { Lookups } from '../platform/database/lookups.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createSecret, hashSecret } from '../platform/random-secret.ts';
import { enrollmentStore } from './enrollment-store.ts';
import { type EnrollmentToken, MAX_OPEN_TOKENS } from './enrollment-token.ts';

/** Wrong tokens allowed per address and minute. */
const WRONG_BY_ADDRESS = 60;
const WINDOW_MS = 60_000;

export interface EnrollmentServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  lookups: Pick<Lookups, 'findEnrollmentToken'>;
  applied: AppliedBarrier;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export interface NewToken {
  label: string;
  roleIds: string[];
  maxUses: number;
  expiresInHours: number;
}

export type EnrollmentService = ReturnType<typeof createEnrollmentService>;

export function createEnrollmentService(deps: EnrollmentServiceDeps) {
  const { db, lookups, applied, now, limitClock: elapsed } = deps;
  const wrongByAddress = createRateLimiter({
    limit: WRONG_BY_ADDRESS,
    windowMs: WINDOW_MS,
    elapsed,
  });

  const refuse = (place: string): never => {
    wrongByAddress.check(place);
    wrongByAddress.count(place);
    throw new AppError('ENROLLMENT_TOKEN_INVALID');
  };

  return {
    /**
     * @returns the token's record, and its secret, which is shown only here
     * @throws AppError ROLE_NOT_FOUND, ENROLLMENT_TOKEN_LIMIT_REACHED
     */
    issue: (scope: TenantScope, input: NewToken) =>
      db.inTenant(scope, (tx) => issueEnrollmentToken(tx, input, now())),

    list: (scope: TenantScope, page: Page) =>
      db.inTenant(scope, (tx) => enrollmentStore(tx).list(page)),

    /** @throws AppError ENROLLMENT_TOKEN_NOT_FOUND */
    revoke: (scope: TenantScope, id: string): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        const store = enrollmentStore(tx);
        const token = await store.find(id);
        if (!token) throw new AppError('ENROLLMENT_TOKEN_NOT_FOUND');
        if (!(await store.revoke(id, now()))) return;
        tx.audit.append({
          action: 'enrollment_token_revoked',
          target: `enrollment_token/${token.id}`,
          details: { label: token.label, uses: token.uses },
        });
      }),

    /**
     * Returns once the local data plane knows the agent. Wrong tokens are limited by address; they
     * never block a correct one.
     *
     * @throws AppError ENROLLMENT_TOKEN_INVALID, RATE_LIMITED
     */
    enroll: async (
      secret: string,
      input: AgentInput,
      request: { address: string; id: string },
    ): Promise<{ agent: Agent; secret: string }> => {
      const place = addressGroup(request.address);
      const owner = await lookups.findEnrollmentToken(hashSecret(secret));
      if (!owner) return refuse(place);
      const { tenantId, id } = owner;
      const actor = { id, username: `enrollment-token:${id}`, role: 'system' } as const;
      const scope: TenantScope = { tenantId, actor, requestId: request.id };
      const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
        const at = now();
        const token = await enrollmentStore(tx).use(id, at);
        if (!token) return undefined;
        const registered = await registerAgent(tx, input, { roleIds: token.roleIds, now: at });
        tx.audit.append({
          action: 'agent_enrolled',
          target: `agent/${registered.agent.id}`,
          details: { enrollment_token: id, label: token.label, uses: token.uses },
        });
        const status = effectiveStatus(registered.agent, await readKillSwitch(tx));
        return { ...registered, agent: { ...registered.agent, status } };
      });
      if (!result) return refuse(place);
      if (feedSeq !== undefined) await applied.wait(tenantId, { feedSeq });
      return result;
    },
  };
}

/** Issues a token in a transaction of its tenant. */
export async function issueEnrollmentToken(
  tx: TenantTransaction,
  { label, roleIds, maxUses, expiresInHours }: NewToken,
  now: Date,
): Promise<{ token: EnrollmentToken; secret: string }> {
  const store = enrollmentStore(tx);
  await store.lock();
  await store.prune(now);
  if ((await store.countOpen(now)) >= MAX_OPEN_TOKENS) {
    throw new AppError('ENROLLMENT_TOKEN_LIMIT_REACHED');
  }
  const { tenantId, actor } = tx.scope;
  const wanted = [...new Set(roleIds)];
  const known = await tx.db.role.count({ where: { tenantId, id: { in: wanted } } });
  if (known !== wanted.length) throw new AppError('ROLE_NOT_FOUND');
  await requireRoomOfAgent(tx, wanted, 'role_ids');
  const { secret, hash } = createSecret('enr_');
  const expiresAt = new Date(now.getTime() + expiresInHours * HOUR_MS);
  const token: EnrollmentToken = {
    ...{ id: uuidv7(now.getTime()), label, roleIds: wanted, maxUses, uses: 0 },
    ...{ createdBy: actor.username, createdAt: now, expiresAt, revokedAt: null },
  };
  await store.insert(token, hash);
  tx.audit.append({
    action: 'enrollment_token_issued',
    target: `enrollment_token/${token.id}`,
    details: { label, role_ids: wanted, max_uses: maxUses, expires_at: expiresAt.toISOString() },
  });
  return { token, secret };
}
