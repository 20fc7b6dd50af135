/**
 * The records of one batch against its header, one after the other: what batch.root and chain.head
 * say of a batch, for packages and for the control plane's own rows.
 */
import { createMerkleTree } from '../merkle-proofs.ts';

/** What was signed of the records. */
export interface SignedRecords {
  firstSeq: number;
  lastSeq: number;
  prevHead: string;
  eventRoot: string;
}

export interface BatchRecords {
  /**
   * Takes the next record.
   *
   * @param prevHash undefined where it cannot be read
   * @returns what is wrong with the batch's beginning, of its first record alone
   */
  add(hash: string, prevHash: string | undefined): string | undefined;
  /** Whether as many are there as were signed. */
  isWhole(): boolean;
  /** What is wrong with all of them; asked when they are whole. */
  findRootFault(): string | undefined;
}

/** How many records a batch says it has. */
export const recordsOf = ({
  firstSeq,
  lastSeq,
}: Pick<SignedRecords, 'firstSeq' | 'lastSeq'>): number => lastSeq - firstSeq + 1;

export function createBatchRecords(batch: SignedRecords): BatchRecords {
  const tree = createMerkleTree();
  return {
    add: (hash, prevHash) => {
      const isFirst = tree.size === 0;
      tree.add(hash);
      const isBehindIt = !isFirst || prevHash === undefined || prevHash === batch.prevHead;
      return isBehindIt ? undefined : 'the batch begins behind another record';
    },
    isWhole: () => tree.size >= recordsOf(batch),
    findRootFault: () =>
      tree.root() === batch.eventRoot ? undefined : 'the records are not those that were signed',
  };
}
