/** A requested evidence package, and how it is cut into volumes. */
import { MAX_BOUNDARIES, SET_LIMITS } from '@governance/shared/evidence/evidence-package';
import { z } from 'zod';

/** Packages of a tenant that are stored or in progress; one is made at a time. */
export const MAX_PACKAGES = 20;
/** Per export; a longer one must be requested in parts. */
export const MAX_VOLUMES = 256;
/** The most records that a filter may select. */
export const MAX_SELECTED = 100_000;
/**
 * Bytes of records in a volume, beyond which the next one begins. A volume is made in memory, and
 * must stay within verifiers' limits even if nothing of it can be compressed.
 */
export const VOLUME_BYTES = 32 * 1024 * 1024;

export type PackageStatus = 'queued' | 'running' | 'ready' | 'failed';

export interface EvidenceRequest {
  /** Also identifies the set of volumes. */
  id: string;
  from: Date;
  to: Date;
  /** Empty: no filter. */
  agentIds: string[];
  workflowSessionId: string | null;
  includePayloads: boolean;
  /** Sizes of the log, beyond the remembered ones, that the package must be consistent with. */
  anchorSizes: number[];
}

export const isSelective = ({ agentIds, workflowSessionId }: EvidenceRequest): boolean =>
  agentIds.length > 0 || workflowSessionId !== null;

const Count = z.int().nonnegative();

/** Made once, so that an interrupted run continues with the same volumes. */
export const ExportPlan = z.strictObject({
  log_epoch: z.int().positive(),
  /** The log's size when the plan was made. */
  size: Count,
  start: Count,
  /** The leaf before which each volume ends. */
  ends: z.array(Count).min(1).max(MAX_VOLUMES),
  /**
   * The key under which the volumes are encrypted in the database; null if they hold no payloads.
   */
  data_key_id: z.string().nullable(),
});
export type ExportPlan = z.infer<typeof ExportPlan>;

/** Why the requested package cannot be made; the message is shown to the user. */
export class ExportRefused extends Error {
  override readonly name = 'ExportRefused';
}

/**
 * Refuses an export with too many unreadable records: every verifier would refuse the set. The
 * limit leaves room for those shown before the first volume, which count too.
 *
 * @param unread the number of the export's records that cannot be read
 * @throws ExportRefused
 */
export function checkUnread(unread: number): void {
  const limit = SET_LIMITS.unread - MAX_BOUNDARIES;
  if (unread <= limit) return;
  throw new ExportRefused(
    `more than ${limit} records that cannot be read lie in that time, and no verifier takes more of them in one export: ask for less time`,
  );
}
