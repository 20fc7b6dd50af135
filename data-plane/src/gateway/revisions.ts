import { LEGACY_REVISIONS } from '../upstream/era.ts';

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];

/** What a request without MCP-Protocol-Version speaks: the revisions before 2025-06-18 had none. */
export const ASSUMED_REVISION: LegacyRevision = '2025-03-26';

/** Whether a text names a legacy revision. */
export function isLegacyRevision(text: unknown): text is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === text);
}

/** The revision for a session: the client's where it is known, else the best here (MCP, lifecycle). */
export function negotiateRevision(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LEGACY_REVISIONS[0];
}
