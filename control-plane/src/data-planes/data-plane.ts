import type { Heartbeat } from '@governance/shared/channel/channels';
import { isWithin } from '@governance/shared/time/durations';

/**
 * Whether a data plane may work. A `revoked` one may only ship its backlog. A `forked` one had two
 * writers (a copied data folder). Neither may register again with the same signing key.
 */
export type DataPlaneStanding = 'active' | 'revoked' | 'forked';

/** A registered data plane. Keys are public JWKs as JSON. */
export interface DataPlane {
  deploymentId: string;
  label: string;
  region: string;
  version: string;
  signingKey: string;
  sealingKey: string;
  /** Signs its agent tokens; null for a data plane of the first version until it restarts. */
  tokenKey: string | null;
  lastHeartbeatAt: Date | null;
  standing: DataPlaneStanding;
  /** Its cursor in the feed, when it last read the feed, and its backlog then. */
  feedCursor: number | null;
  feedReadAt: Date | null;
  backlogRecords: number | null;
  createdAt: Date;
  /** The record that made it what it is, and the service's word for that. */
  recordId: string | null;
  attestation: string | null;
}

/** What the list shows of a heartbeat; the whole of one is up to 64 KiB. */
export type ShownHeartbeat = Pick<
  Heartbeat,
  | 'active_agent_count'
  | 'proxy_rpm_1m'
  | 'escalations_pending'
  | 'opa_bundle_version'
  | 'uptime_seconds'
  | 'stream'
>;

export interface ListedDataPlane extends DataPlane {
  /** As received last. */
  lastHeartbeat: ShownHeartbeat | null;
}

/** Three heartbeats (specification 1, section 8: one every 60 s). */
export const SILENT_AFTER_MS = 180_000;

export type DataPlaneStatus = 'online' | 'silent' | 'registered' | 'revoked' | 'forked';

/**
 * Its status by its last heartbeat; `registered` before the first.
 *
 * @param hasLostItsTokens whether all its tokens were revoked, for example with their root; it may
 * register again with another root
 */
export function statusOf(
  { lastHeartbeatAt, standing }: Pick<DataPlane, 'lastHeartbeatAt' | 'standing'>,
  { hasLostItsTokens, now }: { hasLostItsTokens: boolean; now: Date },
): DataPlaneStatus {
  if (standing !== 'active') return standing;
  if (hasLostItsTokens) return 'revoked';
  if (!lastHeartbeatAt) return 'registered';
  return isWithin(lastHeartbeatAt.getTime(), SILENT_AFTER_MS, now.getTime()) ? 'online' : 'silent';
}

/** The bundle revision that it uses; undefined when it has or reports none. */
export function bundleRevisionOf(
  heartbeat: Pick<Heartbeat, 'opa_bundle_version'> | null,
): number | undefined {
  const revision = Number(heartbeat?.opa_bundle_version || Number.NaN);
  return Number.isSafeInteger(revision) && revision > 0 ? revision : undefined;
}
