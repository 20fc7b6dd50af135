/** The wire shapes of /api/v1/inbound/rules (specification 1, section 4). */

import { SOURCE_RULE_TYPES, SourcePattern } from '@governance/shared/settings/inbound-settings';
import { GivenId, Text, Timestamp } from '@governance/shared/text';
import { HOUR_MS } from '@governance/shared/time/durations';
import { z } from 'zod';
import type { InboundRule } from './inbound-rule-store.ts';

/** How long a rule is valid, by `expires_in`; null: for good. */
export const LIFETIMES_MS = {
  session: HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  permanent: null,
} as const;

const EXPIRES_IN = ['session', '24h', '7d', 'permanent'] as const satisfies ReadonlyArray<
  keyof typeof LIFETIMES_MS
>;

export const NewRuleBody = z.strictObject({
  source_pattern: SourcePattern,
  rule_type: z.enum(SOURCE_RULE_TYPES),
  /** `session` is one hour; null and `permanent` are for good. */
  expires_in: z.enum(EXPIRES_IN).nullish(),
  notes: Text.max(2_000).nullish(),
});
export type NewRuleBody = z.infer<typeof NewRuleBody>;

export const RuleParams = z.object({ rule_id: GivenId });

export const RuleView = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    source_pattern: z.string(),
    rule_type: z.enum(SOURCE_RULE_TYPES),
    expires_at: Timestamp.nullable(),
    created_by: z.string(),
    notes: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'InboundRule' });

export function toRuleView(rule: InboundRule): z.input<typeof RuleView> {
  return {
    id: rule.id,
    tenant_id: rule.tenantId,
    source_pattern: rule.sourcePattern,
    rule_type: rule.ruleType,
    expires_at: rule.expiresAt?.toISOString() ?? null,
    created_by: rule.createdBy,
    notes: rule.notes,
    created_at: rule.createdAt.toISOString(),
  };
}
