/** The wire shapes of /api/v1/dlp. */
import {
  DLP_LIMITS,
  DlpSeverity,
  OutboundAction,
  OutboundActions,
  ResultAction,
  ResultActions,
} from '@governance/shared/settings/dlp-settings';
import { GivenId, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, nameUpTo } from '../platform/http/schemas.ts';
import type { DlpPattern } from './dlp-pattern.ts';
import type { DlpActions } from './dlp-store.ts';

/** The longest text that a pattern is tested on, in UTF-16 units. */
export const MAX_TEST_TEXT = 64 * 1024;

const PatternName = nameUpTo(DLP_LIMITS.name);
const Regex = Text.min(1).max(DLP_LIMITS.regex);
const Description = Text.max(2_000);

export const PatternParams = z.object({ pattern_id: GivenId });

export const NewPatternBody = z.strictObject({
  name: PatternName,
  regex: Regex,
  severity: DlpSeverity,
  description: Description.default(''),
  enabled: z.boolean().default(true),
});
export type NewPatternBody = z.infer<typeof NewPatternBody>;

/** A built-in pattern takes only `enabled` and `severity`. */
export const PatternPatchBody = z.strictObject({
  name: PatternName.optional(),
  regex: Regex.optional(),
  severity: DlpSeverity.optional(),
  description: Description.optional(),
  enabled: z.boolean().optional(),
});
export type PatternPatchBody = z.infer<typeof PatternPatchBody>;

export const PatternView = z
  .object({
    id: z.string(),
    name: z.string(),
    pattern_type: z.enum(['builtin', 'custom']),
    regex: z.string(),
    severity: DlpSeverity,
    enabled: z.boolean(),
    description: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'DlpPattern' });

export const PatternListView = listOf('patterns', PatternView);

export const PatternTestBody = z
  .strictObject({
    /** An expression that is not stored. */
    regex: Regex.optional(),
    /** A stored pattern, enabled or not. */
    id: GivenId.optional(),
    text: Text.max(MAX_TEST_TEXT),
  })
  .refine(({ regex, id }) => (regex === undefined) !== (id === undefined), {
    path: ['regex'],
    message: 'give either regex or id',
  });
export type PatternTestBody = z.infer<typeof PatternTestBody>;

/** Matches, by their places in the text. The text itself is not returned. */
export const PatternTestView = z.object({
  findings: z.array(
    z.object({
      /** The pattern's name; null for an expression that is not stored. */
      pattern: z.string().nullable(),
      severity: DlpSeverity.nullable(),
      /** UTF-16 units from the beginning of the text. */
      start: z.int(),
      length: z.int(),
      /** The encodings or other disguises that were undone, outermost first. */
      disguise: z.array(z.string()),
    }),
  ),
  total: z.int(),
});

export const SettingsView = z
  .object({
    outbound: OutboundActions,
    results: ResultActions,
    cross_session: z.boolean(),
    fragments: z.boolean(),
    /** Null until something is changed. */
    updated_at: Timestamp.nullable(),
  })
  .meta({ id: 'DlpSettings' });

export const SettingsPatchBody = z.strictObject({
  outbound: z
    .strictObject({
      critical: z.literal('block', 'a critical finding is always blocked').optional(),
      high: OutboundAction.optional(),
      medium: OutboundAction.optional(),
      low: OutboundAction.optional(),
    })
    .optional(),
  results: z
    .strictObject({
      critical: ResultAction.optional(),
      high: ResultAction.optional(),
      medium: ResultAction.optional(),
      low: ResultAction.optional(),
    })
    .optional(),
  cross_session: z.boolean().optional(),
  fragments: z.boolean().optional(),
});
export type SettingsPatchBody = z.infer<typeof SettingsPatchBody>;

export function toPatternView(pattern: DlpPattern): z.infer<typeof PatternView> {
  const { id, name, patternType, regex, severity, enabled, description, createdAt } = pattern;
  return {
    id,
    name,
    pattern_type: patternType,
    regex,
    severity,
    enabled,
    description,
    created_at: createdAt.toISOString(),
  };
}

export function toSettingsView(
  actions: DlpActions,
  updatedAt: Date | null,
): z.infer<typeof SettingsView> {
  return { ...actions, updated_at: updatedAt?.toISOString() ?? null };
}
