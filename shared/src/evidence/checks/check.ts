/**
 * The interface of a check of an evidence package: it receives, in the package's order, what the
 * reader finds, counts, and keeps the first location of each fault. A check that throws has failed.
 */
import type {
  BundleLine,
  CauseLine,
  EventProofLine,
  PayloadLine,
  WitnessLine,
} from '../evidence-package.ts';
import type { ArchiveMember } from '../ustar.ts';
import type { BatchView, CauseView, EventView } from './evidence.ts';
import type { KeyUse } from './keyset.ts';
import type { Location } from './location.ts';

/** In the order of reports. */
export const CHECK_NAMES = [
  'container.limits',
  'container.members',
  'json.strict',
  'manifest.signature',
  'files.digest',
  'events.canonical',
  'events.schema',
  'tenant.binding',
  'chain.sequence',
  'chain.links',
  'chain.epochs',
  'chain.start',
  'chain.head',
  'batch.signature',
  'batch.root',
  'log.inclusion',
  'log.consistency',
  'checkpoint.signature',
  'proof.binding',
  'witness.quorum',
  'time.stamp',
  'time.order',
  'keys.anchored',
  'keys.validity',
  'policy.binding',
  'payload.digests',
  'approval.binding',
  'delegation.binding',
  'scope.complete',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

export type CheckStatus = 'pass' | 'fail' | 'skip' | 'warn';

export interface CheckResult<Name extends string = CheckName> {
  name: Name;
  status: CheckStatus;
  detail: string;
  /** How many held, of `total` that were looked at. */
  checked: number;
  total: number;
  location: Location | null;
}

/** What the reader cannot accept, and the check that reports it. */
export interface ReadProblem {
  check: 'container.limits' | 'container.members' | 'json.strict';
  detail: string;
  location: Location | null;
}

/** What checks receive. All of it may come from an attacker. */
export interface CheckHooks {
  /** A member's header. */
  member(member: Pick<ArchiveMember, 'name' | 'size'>): void;
  /** A member was read to the end. */
  file(file: { name: string; size: number; sha256: string }): void;
  /** A JSON document or line was read strictly. */
  json(location: Location): void;
  /** Manifest, keys, checkpoints and proofs are read: `Evidence` is complete. */
  documents(): void;
  batch(batch: BatchView): void;
  batchesEnd(): void;
  event(event: EventView): void;
  eventsEnd(): void;
  /** For the event of the same line. */
  eventProof(proof: { line: number; value: EventProofLine }): void;
  cause(cause: CauseView & { value: CauseLine }): void;
  bundle(bundle: { line: number; value: BundleLine }): void;
  payload(payload: { line: number; value: PayloadLine }): void;
  witness(witness: { line: number; value: WitnessLine }): void;
  /** A signature was made with a key. */
  keyUse(use: KeyUse): void;
}

/** Receives what checks receive, for callers that compare several packages. */
export interface Observer extends Partial<CheckHooks> {
  /** It threw: its result is unknown. */
  failed(): void;
}

export interface Check extends Partial<CheckHooks> {
  /** After the last member. */
  end?(): void;
}

/** The clocks of the planes, and of a service's replicas, differ a little. */
export const SKEW_MS = 5 * 60_000;

/** Whether a time is before another, by more than clocks differ. */
export const isBefore = (a: string, b: string, skewMs = SKEW_MS): boolean =>
  Date.parse(a) < Date.parse(b) - skewMs;

export type Tally<Name extends string = CheckName> = ReturnType<typeof createTally<Name>>;

/** Counts for one check, and keeps the first finding of each kind. */
export function createTally<Name extends string = CheckName>(name: Name) {
  type Finding = { detail: string; location: Location | null };
  let held = 0;
  let total = 0;
  let failure: Finding | undefined;
  let warning: Finding | undefined;
  let skipped: string | undefined;
  let note = '';
  const tally = {
    ok: (count = 1): void => {
      held += count;
      total += count;
    },
    fail: (detail: string, location: Location | null = null): void => {
      total++;
      failure ??= { detail, location };
    },
    /** One of a member's lines: what is wrong with it, if anything. */
    judge: (fault: string | undefined, member: string, line: number): void => {
      if (fault === undefined) tally.ok();
      else tally.fail(fault, { member, line });
    },
    /** Unusual, but no proof of anything. */
    warn: (detail: string, location: Location | null = null): void => {
      total++;
      warning ??= { detail, location };
    },
    /** Nothing can be decided, for this reason; a failure counts all the same. */
    skip: (reason: string): void => {
      skipped ??= reason;
    },
    /** What is reported when the check passes. */
    note: (detail: string): void => {
      note = detail;
    },
    result: (): CheckResult<Name> => {
      const counts = { name, checked: held, total };
      if (failure) return { ...counts, status: 'fail', ...failure };
      if (skipped !== undefined) {
        return { ...counts, status: 'skip', detail: skipped, location: null };
      }
      if (warning) return { ...counts, status: 'warn', ...warning };
      return { ...counts, status: 'pass', detail: note, location: null };
    },
  };
  return tally;
}
