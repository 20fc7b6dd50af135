/** The result of a verification, and the verdict. */
import type { EvidenceManifest } from '../evidence-package.ts';
import { anchorDigest } from '../trust-anchor.ts';
import type { CheckResult } from './check.ts';
import type { Evidence, Independence } from './evidence.ts';
import type { PackageReader } from './package-reader.ts';

export type Verdict = 'VERIFIED' | 'NOT_VERIFIED' | 'INCONCLUSIVE' | 'UNREADABLE';

export interface EvidenceReport {
  verdict: Verdict;
  independence: Independence;
  /** The digest of the given anchor. */
  anchor_digest: string | null;
  package:
    | (Pick<
        EvidenceManifest,
        'package_id' | 'set_id' | 'tenant_id' | 'issuer' | 'created_at' | 'scope' | 'log' | 'volume'
      > & {
        /** SHA-256 of the manifest's payload; the next volume names it. */
        manifest_digest: string | null;
      })
    | null;
  events: number;
  /** The checkpoint up to which nothing is missing; null when that is not shown. */
  complete_up_to: { origin: string; size: number; root: string; time: string } | null;
  checks: CheckResult[];
  summary: { passed: number; failed: number; skipped: number; warnings: number };
}

/**
 * The report of a verification. The verdict, in this order: UNREADABLE without a manifest,
 * NOT_VERIFIED where a check failed, INCONCLUSIVE where nothing from outside the package was
 * compared (no trusted key, or an anchor whose log was not compared), else VERIFIED.
 *
 * @param checks in the order in which they are listed
 */
export function reportOf(
  evidence: Evidence,
  reader: Pick<PackageReader, 'hasManifest' | 'events' | 'manifestDigest'>,
  checks: CheckResult[],
): EvidenceReport {
  const { hasManifest, events, manifestDigest } = reader;
  const count = (status: CheckResult['status']) =>
    checks.filter((check) => check.status === status).length;
  const { anchor } = evidence.trust;
  const ofTrust = anchor ? 'independent' : 'self-asserted';
  const independence = hasManifest ? evidence.independence : ofTrust;
  const statusOf = (name: string) => checks.find((check) => check.name === name)?.status;
  const verdict = (): Verdict => {
    if (!hasManifest) return 'UNREADABLE';
    if (count('fail') > 0) return 'NOT_VERIFIED';
    if (independence === 'self-asserted') return 'INCONCLUSIVE';
    // An anchor was given to compare the log with.
    if (anchor && statusOf('log.consistency') !== 'pass') return 'INCONCLUSIVE';
    return 'VERIFIED';
  };
  return {
    verdict: verdict(),
    independence,
    anchor_digest: anchor ? anchorDigest(anchor) : null,
    package: hasManifest ? packageOf(evidence.manifest, manifestDigest) : null,
    events,
    complete_up_to: statusOf('scope.complete') === 'pass' ? checkpointOf(evidence) : null,
    checks,
    summary: {
      passed: count('pass'),
      failed: count('fail'),
      skipped: count('skip'),
      warnings: count('warn'),
    },
  };
}

function packageOf(
  manifest: EvidenceManifest,
  manifest_digest: string | null,
): EvidenceReport['package'] {
  const { package_id, set_id, tenant_id, issuer, created_at, scope, log, volume } = manifest;
  return { package_id, set_id, tenant_id, issuer, created_at, scope, log, volume, manifest_digest };
}

function checkpointOf({ checkpoints, manifest }: Evidence): EvidenceReport['complete_up_to'] {
  return checkpoints.get(manifest.log.end)?.checkpoint ?? null;
}
