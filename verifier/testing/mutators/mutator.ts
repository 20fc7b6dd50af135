import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import type { Members, PackageParts } from '../package-builder.ts';
import type { TestKey } from '../test-keys.ts';
import type { Random } from './random.ts';

/** A good package that is mutated, and the anchor for which it is one. */
export interface Base {
  name: string;
  parts: PackageParts;
  members: Members;
  anchor: TrustAnchor;
  /** The issuer's own key: with it a manifest is signed anew. */
  signer: TestKey;
}

/** What became of a good package. */
export interface Mutated {
  bytes: Buffer;
  /** Where it is held against another anchor than its own. */
  anchor?: TrustAnchor;
}

/** One class of mutations. */
export interface Mutator {
  name: string;
  /**
   * @param bases all that there are, for what is taken from another package
   * @returns undefined where nothing was changed
   */
  mutate(base: Base, random: Random, bases: readonly Base[]): Mutated | undefined;
}
