/** Holds the volumes of one export against each other: each was verified by itself. */
import { canonicalize } from '@governance/shared/canonical-json';
import type { VerificationResult } from './verify-package.ts';

/**
 * What is wrong with a set: volumes that are missing, out of order or of another export.
 *
 * @param volumes in the order in which they were given
 * @returns sentences; none where the set is whole
 */
export function findSetFaults(volumes: readonly VerificationResult[]): string[] {
  const faults: string[] = [];
  let before: VerificationResult['package'] | undefined;
  for (const [i, volume] of volumes.entries()) {
    const { package: of } = volume;
    if (!of) faults.push(`file ${i + 1} is no package`);
    else {
      const { number, previous } = of.volume;
      if (number !== i + 1) faults.push(`file ${i + 1} is volume ${number}`);
      if (before && of.set_id !== before.set_id) {
        faults.push(`file ${i + 1} is of another export`);
      }
      if (before && commonOf(of) !== commonOf(before)) {
        faults.push(`file ${i + 1} is of another tenant, scope or log`);
      }
      if (before && previous !== before.manifest_digest) {
        faults.push(`volume ${number} follows another volume than the one before`);
      }
      const isContiguous = of.scope.kind === 'contiguous';
      if (before && isContiguous && before.log.end !== of.log.start) {
        faults.push(`volume ${number} does not go on where the one before ends`);
      }
    }
    before = of;
  }
  const of = volumes[0]?.package?.volume.of;
  if (of !== undefined && of !== volumes.length) {
    faults.push(`${volumes.length} of ${of} volumes are there`);
  }
  return faults;
}

/** What every volume of an export says alike. */
function commonOf(of: NonNullable<VerificationResult['package']>): string {
  const { tenant_id, scope, log, volume } = of;
  return canonicalize({ tenant_id, scope, origin: log.origin, of: volume.of });
}
