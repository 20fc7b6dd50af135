import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import type { Members, PackageParts } from '../package-builder.ts';
import type { TestKey } from '../test-keys.ts';
import type { Random } from './random.ts';

/** A good package to mutate, and the anchor for which it is good. */
export interface Base {
  name: string;
  parts: PackageParts;
  members: Members;
  anchor: TrustAnchor;
  /** The issuer's own key, to re-sign a manifest. */
  signer: TestKey;
}

/** A mutated package. */
export interface Mutated {
  bytes: Buffer;
  /** Set if it is verified against another anchor than its own. */
  anchor?: TrustAnchor;
}

/** One class of mutations. */
export interface Mutator {
  name: string;
  /**
   * @param bases all bases, for content taken from another package
   * @returns undefined if nothing was changed
   */
  mutate(base: Base, random: Random, bases: readonly Base[]): Mutated | undefined;
}
