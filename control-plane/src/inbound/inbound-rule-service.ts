/**
 * Rules about the sources of results. A change is published in the bundle, and the request is
 * answered once it is enforced. Expiry needs no new bundle, since data planes apply it by their
 * clocks.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { MAX_SOURCE_RULES, type SourceRule } from '@governance/shared/settings/inbound-settings';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { LIFETIMES_MS, type NewRuleBody } from './inbound-rule-schemas.ts';
import { type InboundRule, inboundRuleStore } from './inbound-rule-store.ts';

export interface InboundDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
  now(): Date;
  /** By which a rule has expired: a short glitch of the clock ends none that blocks a source. */
  settledNow(): Date;
}

export type InboundRuleService = ReturnType<typeof createInboundRuleService>;

export function createInboundRuleService(deps: InboundDeps) {
  const { db, bundles, applied, now, settledNow } = deps;
  /** Commits a change and returns when the bundle with it is in force. */
  async function commit<T>(scope: TenantScope, work: (tx: TenantTransaction) => Promise<T>) {
    const result = await db.inTenant(scope, work);
    const { revision } = await bundles.requestBuild(scope.tenantId);
    await applied.wait(scope.tenantId, { bundleRevision: revision });
    return result;
  }

  return {
    list: (scope: TenantScope): Promise<InboundRule[]> =>
      db.inTenant(scope, (tx) => inboundRuleStore(tx).listActive(settledNow())),

    create: (scope: TenantScope, body: NewRuleBody): Promise<InboundRule> =>
      commit(scope, async (tx) => {
        const at = now();
        const store = inboundRuleStore(tx);
        await lockRules(tx);
        await store.deleteExpired(settledNow());
        if ((await store.countActive(settledNow())) >= MAX_SOURCE_RULES) {
          throw new AppError('INBOUND_RULE_LIMIT_REACHED');
        }
        const lifetime = LIFETIMES_MS[body.expires_in ?? 'permanent'];
        const rule = await store.insert({
          id: uuidv7(at.getTime()),
          sourcePattern: body.source_pattern,
          ruleType: body.rule_type,
          expiresAt: lifetime === null ? null : new Date(at.getTime() + lifetime),
          createdBy: scope.actor.username,
          notes: body.notes ?? null,
          createdAt: at,
        });
        audit(tx, 'inbound_rule_created', rule);
        return rule;
      }),

    delete: (scope: TenantScope, ruleId: string): Promise<void> =>
      commit(scope, async (tx) => {
        const rule = await inboundRuleStore(tx).deleteActive(ruleId, settledNow());
        if (rule === undefined) throw new AppError('INBOUND_RULE_NOT_FOUND');
        audit(tx, 'inbound_rule_deleted', rule);
      }),
  };
}

/**
 * Deletes the rules that trust a deleted server: its id may be given to another server. Rules that
 * restrict it stay, and so do patterns with a `*`, which name no single server.
 */
export async function endTrustInServer(tx: TenantTransaction, serverId: string): Promise<void> {
  const store = inboundRuleStore(tx);
  // One that is being created would be committed unseen.
  await lockRules(tx);
  // Also those that have expired: a clock that is set back would bring them back.
  const always = new Date(0);
  for (const rule of await store.listActive(always)) {
    // Before a URI, data planes read a server's id in capital letters, too.
    const [source] = rule.sourcePattern.toLowerCase().split(' ');
    if (rule.ruleType !== 'trust' || source !== serverId) continue;
    const deleted = await store.deleteActive(rule.id, always);
    if (!deleted) continue;
    audit(tx, 'inbound_rule_deleted', deleted, { because_of: `mcp_server/${serverId}` });
  }
}

/** The rules for the bundle. */
export async function readSourceRules(tx: TenantTransaction, now: Date): Promise<SourceRule[]> {
  const rules = await inboundRuleStore(tx).listActive(now);
  return rules.map(({ id, sourcePattern, ruleType, expiresAt }) => ({
    id,
    source_pattern: sourcePattern,
    rule_type: ruleType,
    expires_at: expiresAt?.toISOString() ?? null,
  }));
}

/**
 * Serialises creation until the transaction ends, since the number of rules is bounded, and with the
 * deletion and creation of servers, which end trust.
 */
async function lockRules({ db, scope }: TenantTransaction): Promise<void> {
  await lockInTenant(db, 'inbound-rules', scope.tenantId);
}

function audit(
  tx: TenantTransaction,
  action: string,
  rule: InboundRule,
  details: Record<string, unknown> = {},
): void {
  tx.audit.append({
    action,
    target: `inbound_rule/${rule.id}`,
    details: {
      source_pattern: rule.sourcePattern,
      rule_type: rule.ruleType,
      expires_at: rule.expiresAt?.toISOString() ?? null,
      ...details,
    },
  });
}
