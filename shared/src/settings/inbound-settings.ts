/**
 * How a tenant's data planes treat server text: member `inbound` of the bundle's settings. Absent
 * means `DEFAULT_INBOUND_ACTIONS`, and no rules.
 */
import { z } from 'zod';
import type { Severity } from '../ledger/ledger-record.ts';
import { Id, Sha256Hex, Text, Timestamp } from '../text.ts';

/** Rules of one tenant; all are in its bundle. */
export const MAX_SOURCE_RULES = 500;
/** Stars of one pattern: each adds a position to track, so they bound the cost of a comparison. */
const MAX_STARS = 16;

export const SOURCE_RULE_TYPES = ['trust', 'untrusted', 'block'] as const;
export type SourceRuleType = (typeof SOURCE_RULE_TYPES)[number];

/** A glob of server ids or of requested URIs: `*` is any characters. */
export const SourcePattern = Text.min(1)
  .max(500)
  .refine((pattern) => pattern.split('*').length - 1 <= MAX_STARS, {
    message: `must have at most ${MAX_STARS} stars`,
  });

export const SourceRule = z.object({
  id: Id,
  source_pattern: SourcePattern,
  rule_type: z.enum(SOURCE_RULE_TYPES),
  /** Checked by the data plane's clock: no bundle is built when a rule expires. Null: never. */
  expires_at: Timestamp.nullable(),
});
export type SourceRule = z.infer<typeof SourceRule>;

/** `hold`: a person decides; what cannot be held is replaced. */
export const InboundAction = z.enum(['pass', 'hold', 'substitute']);
export type InboundAction = z.infer<typeof InboundAction>;

/** The action for a finding, by its severity; `info` is passed on. */
export const InboundActions = z.object({
  low: InboundAction,
  medium: InboundAction,
  high: InboundAction,
  critical: InboundAction,
} satisfies Record<Exclude<Severity, 'info'>, typeof InboundAction>);
export type InboundActions = z.infer<typeof InboundActions>;

export const DEFAULT_INBOUND_ACTIONS: InboundActions = {
  low: 'pass',
  medium: 'pass',
  high: 'substitute',
  critical: 'substitute',
};

/** Tools of one tenant whose pin travels in its bundle: those that have ever changed. */
export const MAX_PINS = 5_000;

/** Tools of one tenant whose pins are stored. */
export const MAX_KEPT_PINS = 20_000;

/** The policy for tools whose definition changes. */
const PinnedToolsSetting = z.object({
  /** A changed tool is neither listed nor called until an administrator approves it. */
  require_approval: z.boolean(),
  pins: z
    .array(
      z.object({
        server_id: Text,
        tool_name: Text,
        hash: Sha256Hex,
        /** Every other definition from the server is approved, too. */
        varies: z.boolean().optional(),
        /** When an administrator approved it last: a tool that varied before waits no longer. */
        approved_at: Timestamp.optional(),
      }),
    )
    .max(MAX_PINS),
});

export const InboundSettings = z.looseObject({
  actions: InboundActions,
  /** For sources that a rule calls untrusted; absent: as `actions`. */
  untrusted_actions: InboundActions.optional(),
  rules: z.array(SourceRule).max(MAX_SOURCE_RULES),
  /** Earlier bundles do not have it: nothing waits for approval. */
  pinned_tools: PinnedToolsSetting.optional(),
});
export type InboundSettings = z.infer<typeof InboundSettings>;
