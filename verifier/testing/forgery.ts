import type { CheckName } from '@governance/shared/evidence/checks/check';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';

export interface Forgery {
  name: string;
  /** The check that finds it. */
  check: CheckName;
  make(): { bytes: Buffer; anchor: TrustAnchor };
}
