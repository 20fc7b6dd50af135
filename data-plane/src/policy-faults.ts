import type { PolicyFault } from '@governance/policies/contract';

const AUTHORS_FAULTS: ReadonlySet<PolicyFault> = new Set<PolicyFault>([
  'out_of_fuel',
  'out_of_memory',
  'trap',
  'builtin_error',
]);

/**
 * Whether a fault is one that a policy's author can write: an endless loop, values that conflict.
 * Such a policy is put in force and denies what it fails on, so that everybody sees it; the rules of
 * before would go on allowing what the new ones may deny. Any other fault says that the bundle is
 * not what our compiler makes.
 */
export function isAuthorsFault(fault: PolicyFault): boolean {
  return AUTHORS_FAULTS.has(fault);
}
