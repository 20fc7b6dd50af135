/**
 * Compares the records of one batch with its header, one by one: the findings of batch.root and
 * chain.head, for packages and for the control plane's own rows.
 */
import { createMerkleTree } from '../merkle-proofs.ts';

/** What was signed about the records. */
export interface SignedRecords {
  firstSeq: number;
  lastSeq: number;
  prevHead: string;
  eventRoot: string;
}

export type BatchRecords = ReturnType<typeof createBatchRecords>;

/** The number of records that a batch claims to have. */
export const recordsOf = ({
  firstSeq,
  lastSeq,
}: Pick<SignedRecords, 'firstSeq' | 'lastSeq'>): number => lastSeq - firstSeq + 1;

/** @param batch its header: the records are added in the order of their seq */
export function createBatchRecords(batch: SignedRecords) {
  const tree = createMerkleTree();
  return {
    /**
     * Takes the next record.
     *
     * @param prevHash undefined where it cannot be read
     * @returns what is wrong with the batch's beginning; only ever for its first record
     */
    add: (hash: string, prevHash: string | undefined): string | undefined => {
      const isFirst = tree.size === 0;
      tree.add(hash);
      const isBehindIt = !isFirst || prevHash === undefined || prevHash === batch.prevHead;
      return isBehindIt ? undefined : 'the batch begins behind another record';
    },
    /** What is wrong with the batch as a whole; asked once it is complete. */
    findRootFault: (): string | undefined =>
      tree.root() === batch.eventRoot ? undefined : 'the records are not those that were signed',
  };
}
