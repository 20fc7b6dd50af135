import type { Heartbeat } from '@governance/shared/channels';

/**
 * Whether a data plane may work: `revoked` may only hand in its backlog, `forked` was written by two
 * (a copied data folder). Neither may register again with the same signing key.
 */
export type DataPlaneStanding = 'active' | 'revoked' | 'forked';

/** A registered data plane. Keys are public JWKs, as JSON. */
export interface DataPlane {
  deploymentId: string;
  label: string;
  region: string;
  version: string;
  signingKey: string;
  sealingKey: string;
  /** Signs the agent tokens that it issues; null for one of the first version, until it starts again. */
  tokenKey: string | null;
  lastHeartbeatAt: Date | null;
  /** As it was received last. */
  lastHeartbeat: Heartbeat | null;
  standing: DataPlaneStanding;
  standingAt: Date | null;
  /** Where it stood, and what waited to be shipped, when it last read its feed. */
  feedCursor: number | null;
  feedReadAt: Date | null;
  backlogRecords: number | null;
  createdAt: Date;
}

/** Three beats missed (specification 1, section 8: one every 60 s). */
export const SILENT_AFTER_MS = 180_000;

export type DataPlaneStatus = 'online' | 'silent' | 'registered' | 'revoked' | 'forked';

/**
 * Whether it was heard of lately; `registered` before its first heartbeat.
 *
 * @param hasLostItsTokens every token it was given was revoked: as when the one that it registered
 *   with was, so that it may come back with another
 */
export function statusOf(
  { lastHeartbeatAt, standing }: Pick<DataPlane, 'lastHeartbeatAt' | 'standing'>,
  { hasLostItsTokens, now }: { hasLostItsTokens: boolean; now: Date },
): DataPlaneStatus {
  if (standing !== 'active') return standing;
  if (hasLostItsTokens) return 'revoked';
  if (!lastHeartbeatAt) return 'registered';
  return now.getTime() - lastHeartbeatAt.getTime() < SILENT_AFTER_MS ? 'online' : 'silent';
}

/** The revision of the bundle it decides by; undefined when it has none or tells none. */
export function bundleRevisionOf({
  lastHeartbeat,
}: Pick<DataPlane, 'lastHeartbeat'>): number | undefined {
  const revision = Number(lastHeartbeat?.opa_bundle_version || Number.NaN);
  return Number.isSafeInteger(revision) && revision > 0 ? revision : undefined;
}
