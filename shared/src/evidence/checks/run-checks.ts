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
  type Check,
  type CheckHooks,
  type CheckResult,
  createTally,
  type Observer,
} from './check.ts';
import { checkFiles, checkJson, checkLimits, checkMembers } from './container.ts';
import { checkDelegations } from './delegation-binding.ts';
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

/** Every check, in the order of reports. */
const CHECKS: readonly ((evidence: Evidence) => Check)[] = [
  checkLimits,
  checkMembers,
  checkJson,
  checkManifestSignature,
  checkFiles,
  checkCanonical,
  checkSchema,
  checkTenant,
  checkSequence,
  checkLinks,
  checkEpochs,
  checkStart,
  checkHead,
  checkBatchSignature,
  checkBatchRoot,
  checkInclusion,
  checkConsistency,
  checkCheckpoints,
  checkBinding,
  checkWitnesses,
  checkTimestamp,
  checkTimeOrder,
  checkAnchored,
  checkValidity,
  checkPolicyBinding,
  checkPayloads,
  checkApprovals,
  checkDelegations,
  checkScope,
];

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
  const evidence = { trust } as Evidence;
  const runner = createRunner(evidence, observe?.(evidence));
  const reader = new PackageReader(evidence, runner.tell);
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
    runner.tell('problem', { check, detail, location });
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
  hear(value: unknown): void;
  failed(): void;
}

function createRunner(evidence: Evidence, observer: Observer | undefined) {
  const checks = CHECKS.map((create) => create(evidence));
  const broken = new Set<Check>();
  const listeners = new Map<Hook, Listener[]>();

  /** A package may have a million records, which most checks do not need. */
  function listenersOf(hook: Hook): Listener[] {
    const known = listeners.get(hook);
    if (known) return known;
    const found = [...checks, ...(observer ? [observer] : [])].flatMap((one): Listener[] => {
      const hear = one[hook] as Listener['hear'] | undefined;
      if (!hear) return [];
      return [{ hear, failed: () => ('failed' in one ? one.failed() : void broken.add(one)) }];
    });
    listeners.set(hook, found);
    return found;
  }

  function tell<K extends Hook>(hook: K, value?: Parameters<CheckHooks[K]>[0]): void {
    for (const listener of listenersOf(hook)) {
      try {
        listener.hear(value);
      } catch {
        listener.failed();
      }
    }
  }

  function endOf(check: Check, isWhole: boolean): CheckResult {
    const { name } = check;
    const undecided = (detail: string): CheckResult => {
      const tally = createTally(name);
      tally.fail(detail);
      return tally.result();
    };
    if (broken.has(check)) return undecided('the check could not be made');
    try {
      const result = check.end();
      // A package that was not read to its end is undecided, unless a fault was found already.
      const isDecided = isWhole || OF_THE_READER.has(name) || result.status === 'fail';
      return isDecided ? result : undecided('not decided: the package could not be read');
    } catch {
      return undecided('the check could not be made');
    }
  }

  return {
    tell,
    end: (isWhole: boolean, hasManifest: boolean): CheckResult[] =>
      checks.map((check) => {
        if (hasManifest || OF_THE_READER.has(check.name)) return endOf(check, isWhole);
        const tally = createTally(check.name);
        tally.skip('nothing could be read');
        return tally.result();
      }),
  };
}
