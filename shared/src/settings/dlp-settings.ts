/**
 * A tenant's DLP settings, as they travel in the bundle under `settings.dlp`. Absent means
 * `DEFAULT_DLP_SETTINGS`.
 */
import { z } from 'zod';
import { MAX_REGEX_LENGTH, MAX_TENANT_PATTERNS } from '../detect/engine/pattern-contract.ts';
import type { Severity } from '../ledger/ledger-record-v1.ts';
import { Id, Text } from '../text.ts';

/** Limits on a tenant's own patterns. */
export const DLP_LIMITS = {
  /** A tenant's own patterns. */
  patterns: MAX_TENANT_PATTERNS,
  /** UTF-16 units of one expression. */
  regex: MAX_REGEX_LENGTH,
  /** UTF-16 units of a name. */
  name: 100,
} as const;

/** Severities of a pattern; `info` is not one for sensitive data. */
export const DlpSeverity = z.enum(['low', 'medium', 'high', 'critical']);
export type DlpSeverity = z.infer<typeof DlpSeverity>;

/** Actions for a finding on its way to a server. */
export const OutboundAction = z.enum(['block', 'warn', 'log']);
export type OutboundAction = z.infer<typeof OutboundAction>;

/** Actions for a finding in what a server says. */
export const ResultAction = z.enum(['block', 'redact', 'log']);
export type ResultAction = z.infer<typeof ResultAction>;

export const OutboundActions = z.object({
  /** A critical finding is blocked whatever a tenant sets. */
  critical: z.literal('block'),
  high: OutboundAction,
  medium: OutboundAction,
  low: OutboundAction,
});

export const ResultActions = z.object({
  critical: ResultAction,
  high: ResultAction,
  medium: ResultAction,
  low: ResultAction,
});

/** A tenant's changes to a built-in pattern. */
export const BuiltinOverride = z.object({
  enabled: z.boolean().optional(),
  severity: DlpSeverity.optional(),
});
export type BuiltinOverride = z.infer<typeof BuiltinOverride>;

/** A pattern of the tenant's own that is enabled. */
export const CustomPattern = z.object({
  id: Id,
  name: Text.min(1).max(DLP_LIMITS.name),
  regex: Text.min(1).max(DLP_LIMITS.regex),
  severity: DlpSeverity,
});
export type CustomPattern = z.infer<typeof CustomPattern>;

export const DlpSettings = z.object({
  /** By the pattern's name. A data plane ignores unknown names. */
  builtins: z.record(z.string(), BuiltinOverride),
  custom: z.array(CustomPattern).max(DLP_LIMITS.patterns),
  outbound: OutboundActions,
  results: ResultActions,
  /** Whether one pattern in several sessions of an agent is an alert. */
  cross_session: z.boolean(),
  /** Whether values sent piece by piece are searched for. */
  fragments: z.boolean(),
});
export type DlpSettings = z.infer<typeof DlpSettings>;

export const DEFAULT_DLP_SETTINGS: DlpSettings = {
  builtins: {},
  custom: [],
  outbound: { critical: 'block', high: 'warn', medium: 'warn', low: 'log' },
  results: { critical: 'redact', high: 'redact', medium: 'log', low: 'log' },
  cross_session: true,
  fragments: true,
};

/** The action for a finding of a severity. */
export function actionFor<A>(actions: { readonly [S in DlpSeverity]: A }, severity: Severity): A {
  return actions[severity === 'info' ? 'low' : severity];
}
