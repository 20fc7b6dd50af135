/**
 * Verifies an evidence package; called by the command, the service and other programs. It reads
 * only its arguments: no network, no files, no clock.
 */
import { createTally, type Observer } from '@governance/shared/evidence/checks/check';
import type { Evidence, EvidenceTrust } from '@governance/shared/evidence/checks/evidence';
import type { EvidenceReport } from '@governance/shared/evidence/checks/report';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import type { SourceLimits } from '@governance/shared/evidence/package-source';
import { VERIFIER_VERSION } from './version.ts';

export interface VerificationResult extends EvidenceReport {
  verifier: { version: string };
}

/** The service's limits. */
export const SERVICE_LIMITS: SourceLimits = {
  packedBytes: VOLUME_LIMITS.packedBytes,
  unpackedBytes: VOLUME_LIMITS.unpackedBytes,
  ratio: VOLUME_LIMITS.ratio,
};

/** The command's limits: it streams, and its user chose the file. */
export const COMMAND_LIMITS: SourceLimits = {
  packedBytes: Number.MAX_SAFE_INTEGER,
  unpackedBytes: Number.MAX_SAFE_INTEGER,
  ratio: 1_000,
};

/** What a verification gets besides the package. */
export interface VerificationRequest extends EvidenceTrust {
  limits: SourceLimits;
}

/**
 * Verifies one package, or one volume of a set.
 *
 * @param source its bytes in chunks of any size; caller-controlled
 * @param given the anchor that the tenant gave, the issuers that are trusted here, and limits
 * @param observe creates an observer of what the checks receive
 * @returns the result, also for a corrupt package
 * @throws what the source throws
 */
export async function verifyPackage(
  source: AsyncIterable<Uint8Array>,
  { anchor, issuers, limits }: VerificationRequest,
  observe?: (evidence: Evidence) => Observer,
): Promise<VerificationResult> {
  const report = await runChecks(source, { anchor, issuers }, limits, observe);
  return { ...report, verifier: { version: VERIFIER_VERSION } };
}

/** The result for a package that could not be verified within the service's limits. */
export function abandonedResult(detail: string): VerificationResult {
  const tally = createTally('container.limits');
  tally.fail(detail);
  return {
    verdict: 'UNREADABLE',
    independence: 'self-asserted',
    anchor_digest: null,
    package: null,
    events: 0,
    complete_up_to: null,
    checks: [tally.result()],
    summary: { passed: 0, failed: 1, skipped: 0, warnings: 0 },
    verifier: { version: VERIFIER_VERSION },
  };
}
