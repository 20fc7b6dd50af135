/**
 * What a data plane kept of a tenant's log, as exported by its command, and what that proves to a
 * third party with a trust anchor. Only signatures prove anything: the rest is a claim of the data
 * plane's operator. Proven by verify-kept-log.test.ts.
 */
import { z } from 'zod';
import { Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { type LogPlace, parseCheckpoint, readLogOrigin } from './checkpoint.ts';
import { KeyEntry, SignedLogEpoch, SignedRotation } from './evidence-keys.ts';
import {
  ContradictionReason,
  checkpointKeys,
  findSignatureFault,
  findSignedEpochs,
  isOtherBeginning,
  isSelfContradicting,
  MAX_WATCHED_EPOCHS,
  MAX_WATCHED_KEYS,
  WatchedNote,
} from './log-watch.ts';
import type { TrustAnchor } from './trust-anchor.ts';

export const KEPT_LOG_FORMAT = 'agent-governance-kept-log/v1';

/** Added to everything that a data plane exports about a log. */
export const NO_INDEPENDENT_WITNESS =
  'A data plane that is run by the operator of the log is no independent witness: its operator can change what it keeps.';

export const KeptLog = z.strictObject({
  format: z.literal(KEPT_LOG_FORMAT),
  tenant_id: Id,
  deployment_id: Id,
  exported_at: Timestamp,
  notice: Text.max(1_000),
  /** Keys of purpose `checkpoint`, as first seen. */
  keys: z.array(KeyEntry).max(MAX_WATCHED_KEYS),
  rotations: z.array(SignedRotation).max(MAX_WATCHED_KEYS),
  log_epochs: z.array(SignedLogEpoch).max(MAX_WATCHED_EPOCHS),
  /** In the order in which they were seen. Those of one line continued each other at the time. */
  checkpoints: z
    .array(z.strictObject({ note: WatchedNote, line: z.int().positive(), seen_at: Timestamp }))
    .max(2_000),
  contradictions: z
    .array(
      z.strictObject({
        reason: ContradictionReason,
        seen_at: Timestamp,
        known: WatchedNote.nullable(),
        told: WatchedNote.nullable(),
        /** The proof that came with the received note. */
        consistency: z.array(Sha256Hex).max(64).nullable(),
        log_epochs: z.array(SignedLogEpoch).max(MAX_WATCHED_EPOCHS),
      }),
    )
    .max(1_000),
  /** All that were seen; the first ones are kept. */
  contradictions_total: z.int().nonnegative(),
});
export type KeptLog = z.infer<typeof KeptLog>;

/**
 * - `CONTRADICTED`: signatures of the log's keys alone show two logs, or a loss that was announced
 * - `NOT_VERIFIED`: something in the file is not signed by the log's keys
 * - `UNDECIDED`: there are contradictions that the log's operator can answer by a proof; or there is
 *   no anchor
 * - `CONSISTENT`: otherwise
 */
export type KeptLogVerdict = 'CONTRADICTED' | 'NOT_VERIFIED' | 'UNDECIDED' | 'CONSISTENT';

export interface KeptLogResult {
  verdict: KeptLogVerdict;
  tenant_id: string;
  deployment_id: string;
  checkpoints: number;
  /** The highest one signed by a trusted key. */
  highest: LogPlace | null;
  /** Proven by signatures alone. */
  proven: string[];
  /** For the log's operator to explain. */
  open: string[];
  /** What lacks a valid signature. */
  faults: string[];
  notice: string;
}

type Place = LogPlace & { from: string };

/**
 * Checks what a data plane kept.
 *
 * @param kept caller-controlled, of the form of `KeptLog`
 * @param anchor of the tenant; without one the file's own keys are used, which decides nothing
 */
export function checkKeptLog(kept: KeptLog, anchor: TrustAnchor | null): KeptLogResult {
  const { tenant_id: tenantId, rotations } = kept;
  const faults: string[] = [];
  const places: Place[] = [];
  const isOthers = anchor !== null && anchor.tenant_id !== tenantId;
  if (isOthers) faults.push('the anchor is another tenant’s');
  const trusted = (anchor?.keys ?? kept.keys).filter(({ purpose }) => purpose === 'checkpoint');
  const keys = checkpointKeys({ keys: trusted, rotations });

  const read = (note: string, from: string): Place | undefined => {
    try {
      const signed = parseCheckpoint(note);
      const { origin, size, root } = signed.checkpoint;
      const epoch = readLogOrigin(origin)?.epoch;
      if (epoch === undefined || findSignatureFault(signed, tenantId, keys)) return undefined;
      return { epoch, size, root, from };
    } catch {
      return undefined;
    }
  };
  for (const [i, { note }] of kept.checkpoints.entries()) {
    const place = read(note, `checkpoint ${i + 1}`);
    if (place) places.push(place);
    else faults.push(`checkpoint ${i + 1} is not signed by the log’s keys`);
  }
  if (anchor && !isOthers) places.push({ ...anchor.log, from: 'the anchor' });
  const proven: string[] = [];
  const open: string[] = [];
  for (const [i, { reason, known, told, log_epochs }] of kept.contradictions.entries()) {
    const name = `contradiction ${i + 1} (${reason})`;
    const before = known === null ? undefined : read(known, `${name}, what was kept`);
    const after = told === null ? undefined : read(told, `${name}, what was told`);
    for (const place of [before, after]) if (place) places.push(place);
    if (known !== null && !before) faults.push(`${name}: what was kept is not signed`);
    const begun = findSignedEpochs([...kept.log_epochs, ...log_epochs], tenantId, keys);
    const lost = before && findAnnouncedLoss(before, begun);
    const twice = findTwoBeginnings(begun);
    if (lost) proven.push(`${name}: ${lost}`);
    else if (twice !== undefined) proven.push(`${name}: log epoch ${twice} begins in two ways`);
    else
      open.push(
        `${name}: ${before ? show(before) : 'nothing'}; told ${after ? show(after) : 'nothing signed'}`,
      );
  }
  for (const pair of findPairs(places)) if (!proven.includes(pair)) proven.push(pair);
  const [highest] = places
    .filter(({ from }) => from !== 'the anchor')
    .sort((a, b) => b.epoch - a.epoch || b.size - a.size);
  return {
    verdict: verdictOf({ proven, open, faults }, anchor !== null),
    tenant_id: tenantId,
    deployment_id: kept.deployment_id,
    checkpoints: kept.checkpoints.length,
    highest: highest ? { epoch: highest.epoch, size: highest.size, root: highest.root } : null,
    proven,
    open,
    faults,
    notice: NO_INDEPENDENT_WITNESS,
  };
}

function verdictOf(
  { proven, open, faults }: Pick<KeptLogResult, 'proven' | 'open' | 'faults'>,
  isAnchored: boolean,
): KeptLogVerdict {
  if (faults.length > 0) return 'NOT_VERIFIED';
  if (!isAnchored) return 'UNDECIDED';
  if (proven.length > 0) return 'CONTRADICTED';
  return open.length > 0 ? 'UNDECIDED' : 'CONSISTENT';
}

const show = ({ epoch, size, root }: Place) => `log epoch ${epoch}, ${size} leaves, root ${root}`;

/** Each size with two roots, once. */
function findPairs(places: readonly Place[]): string[] {
  const first = new Map<string, Place>();
  const found = new Map<string, string>();
  for (const place of places) {
    const key = `${place.epoch}/${place.size}`;
    const other = first.get(key) ?? place;
    first.set(key, other);
    if (isSelfContradicting(other, place) && !found.has(key)) {
      found.set(key, `${show(other)} (${other.from}) and root ${place.root} (${place.from})`);
    }
  }
  return [...found.values()];
}

function findAnnouncedLoss(before: Place, begun: readonly SignedLogEpoch[]): string | undefined {
  const cut = begun.find(
    ({ statement: { epoch, restored } }) => epoch > before.epoch && restored.size < before.size,
  );
  if (!cut) return undefined;
  const { epoch, restored } = cut.statement;
  return `log epoch ${epoch} was begun behind ${restored.size} leaves, as announced; ${show(before)} is lost`;
}

/** An epoch with two different statements. */
function findTwoBeginnings(begun: readonly SignedLogEpoch[]): number | undefined {
  return begun.find((a) => begun.some((b) => isOtherBeginning(a, b)))?.statement.epoch;
}
