/**
 * Verifies the volumes of one export together: each by itself, and all of them as a whole. It
 * streams and keeps no volume in memory. Proven by verify-set.test.ts.
 */
import type { Verdict } from '@governance/shared/evidence/checks/report';
import { createSetChecks, type SetCheckResult } from './set-checks.ts';
import {
  type VerificationRequest,
  type VerificationResult,
  verifyPackage,
} from './verify-package.ts';

export interface SetResult {
  /** The worst of the volumes' verdicts, and NOT_VERIFIED if a check of the set failed. */
  verdict: Verdict;
  checks: SetCheckResult[];
  /** Records of all volumes. */
  events: number;
  volumes: VerificationResult[];
}

/** The worst of several verdicts. */
const WORST = ['UNREADABLE', 'NOT_VERIFIED', 'INCONCLUSIVE', 'VERIFIED'] as const;

/**
 * Verifies a set of volumes.
 *
 * @param volumes their bytes, in the given order; each is read once, to its end, before the next
 *   one is requested
 * @param given as for `verifyPackage`
 * @returns the result of the set, with that of each volume; without a volume it is UNREADABLE
 * @throws what a source throws
 */
export async function verifySet(
  volumes: Iterable<AsyncIterable<Uint8Array>> | AsyncIterable<AsyncIterable<Uint8Array>>,
  given: VerificationRequest,
): Promise<SetResult> {
  const set = createSetChecks();
  const results: VerificationResult[] = [];
  for await (const volume of volumes) {
    const result = await verifyPackage(volume, given, set.observe);
    set.add(result);
    results.push(result);
  }
  const checks = set.end();
  const worst =
    WORST.find((verdict) => results.some((one) => one.verdict === verdict)) ?? 'UNREADABLE';
  const hasFailed = checks.some(({ status }) => status === 'fail');
  return {
    verdict: hasFailed && worst !== 'UNREADABLE' ? 'NOT_VERIFIED' : worst,
    checks,
    events: results.reduce((sum, { events }) => sum + events, 0),
    volumes: results,
  };
}
