import type { Heartbeat } from '@governance/shared/channels';

/** A registered data plane. Keys are public JWKs, as JSON. */
export interface DataPlane {
  deploymentId: string;
  label: string;
  region: string;
  version: string;
  signingKey: string;
  sealingKey: string;
  lastHeartbeatAt: Date | null;
  /** As it was received last. */
  lastHeartbeat: Heartbeat | null;
  createdAt: Date;
}

/** Three beats missed (specification 1, section 8: one every 60 s). */
export const SILENT_AFTER_MS = 180_000;

export type DataPlaneStatus = 'online' | 'silent' | 'registered';

/** Whether it was heard of lately; `registered` before its first heartbeat. */
export function statusOf({ lastHeartbeatAt }: DataPlane, now: Date): DataPlaneStatus {
  if (!lastHeartbeatAt) return 'registered';
  return now.getTime() - lastHeartbeatAt.getTime() < SILENT_AFTER_MS ? 'online' : 'silent';
}

/** The revision of the bundle it decides by; undefined when it has none or tells none. */
export function bundleRevisionOf({ lastHeartbeat }: DataPlane): number | undefined {
  const revision = Number(lastHeartbeat?.opa_bundle_version || Number.NaN);
  return Number.isSafeInteger(revision) && revision > 0 ? revision : undefined;
}
