/** The wire shapes of /api/v1/admin/blast-radius (specification 1, section 2). */
import { BLAST_RADIUS_FIELDS } from '@governance/shared/detect/reach/blast-radius-settings';
import { z } from 'zod';
import type { BlastRadius } from './blast-radius-store.ts';

/** Lists replace the whole list. */
export const BlastRadiusPatch = z.strictObject(BLAST_RADIUS_FIELDS).partial();
export type BlastRadiusPatch = z.infer<typeof BlastRadiusPatch>;

export const BlastRadiusView = z
  .object({
    email_recipient_limit: z.int(),
    min_delete_depth: z.int(),
    bulk_action_threshold: z.int(),
    config_path_prefixes: z.array(z.string()),
    protected_file_patterns: z.array(z.string()),
    /** False: the defaults apply, since the tenant never changed them. */
    is_custom: z.boolean(),
  })
  .meta({ id: 'BlastRadius' });

export function toView({ settings, isCustom }: BlastRadius): z.input<typeof BlastRadiusView> {
  return { ...settings, is_custom: isCustom };
}
