import { LEGACY_REVISIONS } from '../upstream/era.ts';

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];

/**
 * The revision of a request without MCP-Protocol-Version: the header did not exist before
 * 2025-06-18.
 */
export const ASSUMED_REVISION: LegacyRevision = '2025-03-26';

/** Whether a text names a legacy revision. */
export function isLegacyRevision(text: unknown): text is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === text);
}

/** The revision for a session: the client's if supported, else the newest here (MCP, lifecycle). */
export function negotiateRevision(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LEGACY_REVISIONS[0];
}
