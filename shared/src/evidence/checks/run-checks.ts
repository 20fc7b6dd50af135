/**
 * Runs every check over a package, member by member, in bounded memory: no member of lines is ever
 * held as a whole. A check that throws has failed, and the others continue.
 */
import { TooLargeError } from '../gunzip.ts';
import { readMembers, type SourceLimits } from '../package-source.ts';
import { ArchiveError } from '../ustar.ts';
import { checkApprovals } from './approval-binding.ts';
import { checkBatchRoot, checkBatchSignature } from './batches.ts';
import { checkEpochs, checkHead, checkLinks, checkSequence, checkStart } from './chain.ts';
import {
  CHECK_NAMES,
  type Check,
  type CheckHooks,
  type CheckName,
  type CheckResult,
  createTally,
  type Observer,
  type ReadProblem,
  type Tally,
} from './check.ts';
import { checkFiles, checkJson, checkLimits, checkMembers } from './container.ts';
import { checkDelegations } from './delegation-binding.ts';
import { createDisputes, type Disputes } from './disputes.ts';
import { checkCanonical, checkSchema, checkTenant, checkTimeOrder } from './events.ts';
import type { Evidence, EvidenceTrust } from './evidence.ts';
import { checkAnchored, checkValidity } from './keys.ts';
import { checkBinding, checkCheckpoints, checkInclusion } from './log.ts';
import { checkConsistency } from './log-consistency.ts';
import { checkManifestSignature } from './manifest-signature.ts';
import { PackageReader } from './package-reader.ts';
import { checkPayloads } from './payload-digests.ts';
import { checkPolicyBinding } from './policy-binding.ts';
import { type EvidenceReport, reportOf } from './report.ts';
import { checkScope } from './scope-complete.ts';
import { checkTimestamp, checkWitnesses } from './witnesses.ts';

const CHECKS: Readonly<Record<CheckName, (tally: Tally, evidence: Evidence) => Check>> = {
  'container.limits': checkLimits,
  'container.members': checkMembers,
  'json.strict': checkJson,
  'manifest.signature': checkManifestSignature,
  'files.digest': checkFiles,
  'events.canonical': checkCanonical,
  'events.schema': checkSchema,
  'tenant.binding': checkTenant,
  'chain.sequence': checkSequence,
  'chain.links': checkLinks,
  'chain.epochs': checkEpochs,
  'chain.start': checkStart,
  'chain.head': checkHead,
  'batch.signature': checkBatchSignature,
  'batch.root': checkBatchRoot,
  'log.inclusion': checkInclusion,
  'log.consistency': checkConsistency,
  'checkpoint.signature': checkCheckpoints,
  'proof.binding': checkBinding,
  'witness.quorum': checkWitnesses,
  'time.stamp': checkTimestamp,
  'time.order': checkTimeOrder,
  'keys.anchored': checkAnchored,
  'keys.validity': checkValidity,
  'policy.binding': checkPolicyBinding,
  'payload.digests': checkPayloads,
  'approval.binding': checkApprovals,
  'delegation.binding': checkDelegations,
  'scope.complete': checkScope,
};

/** Reported by the reader, however little could be read. */
const OF_THE_READER = new Set<string>(['container.limits', 'container.members', 'json.strict']);

/**
 * Verifies a package.
 *
 * @param source the package's bytes, caller-controlled
 * @param trust the anchor, if one was given, and the known issuers
 * @param observe creates an observer, which receives what the checks receive, after them
 * @returns the report; a corrupt package gets one, too
 * @throws what the source throws
 */
export async function runChecks(
  source: AsyncIterable<Uint8Array>,
  trust: EvidenceTrust,
  limits: SourceLimits,
  observe?: (evidence: Evidence) => Observer,
): Promise<EvidenceReport> {
  const disputes = createDisputes();
  const known: Pick<Evidence, 'trust' | 'disputes'> = { trust, disputes };
  const evidence = known as Evidence;
  const runner = createRunner(evidence, disputes, observe?.(evidence));
  const reader = new PackageReader(evidence, runner);
  const given = watched(source);
  let isWhole = false;
  try {
    for await (const member of readMembers(given.bytes, limits)) {
      if (!(await reader.read(member))) break;
    }
    isWhole = reader.finish();
  } catch (error) {
    if (given.failure) throw given.failure.error;
    const { location } = reader;
    const isLimit = error instanceof TooLargeError;
    const isKnown = isLimit || error instanceof ArchiveError;
    // Anything else that a package does to its reader is a finding, too.
    const detail = isKnown ? error.message : 'the package cannot be read';
    const check = isLimit ? 'container.limits' : 'container.members';
    runner.report({ check, detail, location });
  }
  return reportOf(evidence, reader, runner.end(isWhole, reader.hasManifest));
}

/** Tells a failed source from an unreadable package. */
function watched(source: AsyncIterable<Uint8Array>) {
  const state: { bytes: AsyncIterable<Uint8Array>; failure?: { error: unknown } } = {
    bytes: read(),
  };
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      state.failure = { error };
      throw error;
    }
  }
  return state;
}

type Hook = keyof CheckHooks;

/** Who receives something, and what happens if that throws. */
interface Listener {
  receive(value: unknown): void;
  failed(): void;
}

function createRunner(evidence: Evidence, disputes: Disputes, observer: Observer | undefined) {
  const tallies = new Map(CHECK_NAMES.map((name) => [name, createTally(name)]));
  const checks = [...tallies].map(([name, tally]) => ({
    name,
    tally,
    hooks: CHECKS[name](tally, evidence),
    isBroken: false,
  }));
  const hearers: { hooks: Partial<CheckHooks>; failed(): void }[] = checks.map((check) => ({
    hooks: check.hooks,
    failed: () => {
      check.isBroken = true;
    },
  }));
  hearers.push(disputes);
  if (observer) hearers.push({ hooks: observer, failed: () => observer.failed() });
  const listeners = new Map<Hook, Listener[]>();

  /** A package may have a million records, which most checks do not need. */
  function listenersOf(hook: Hook): Listener[] {
    const known = listeners.get(hook);
    if (known) return known;
    const found = hearers.flatMap(({ hooks, failed }): Listener[] => {
      const receive = hooks[hook] as Listener['receive'] | undefined;
      return receive ? [{ receive, failed }] : [];
    });
    listeners.set(hook, found);
    return found;
  }

  function emit<K extends Hook>(hook: K, value?: Parameters<CheckHooks[K]>[0]): void {
    for (const listener of listenersOf(hook)) {
      try {
        listener.receive(value);
      } catch {
        listener.failed();
      }
    }
  }

  function endOf(check: (typeof checks)[number], isWhole: boolean): CheckResult {
    const { name, tally, hooks } = check;
    try {
      if (!check.isBroken) hooks.end?.();
    } catch {
      check.isBroken = true;
    }
    if (check.isBroken) return resultOf(name, 'fail', 'the check could not be made');
    const result = tally.result();
    // A package that was not read to its end is undecided, unless a fault was found already.
    if (isWhole || OF_THE_READER.has(name) || result.status === 'fail') return result;
    return resultOf(name, 'fail', 'not decided: the package could not be read');
  }

  return {
    emit,
    /** The reader cannot accept something: reported by this check. */
    report: ({ check, detail, location }: ReadProblem) =>
      tallies.get(check)?.fail(detail, location),
    end: (isWhole: boolean, hasManifest: boolean): CheckResult[] =>
      checks.map((check) =>
        hasManifest || OF_THE_READER.has(check.name)
          ? endOf(check, isWhole)
          : resultOf(check.name, 'skip', 'nothing could be read'),
      ),
  };
}

/** The result of a check that looked at nothing. */
function resultOf(name: CheckName, how: 'fail' | 'skip', detail: string): CheckResult {
  const tally = createTally(name);
  tally[how](detail);
  return tally.result();
}
