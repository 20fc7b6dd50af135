import { type ChainPosition, GENESIS_HASH } from '@governance/shared/ledger/hash-chain';

/** A chain position as breaks show it. */
export function showPosition(position: ChainPosition | null): string {
  return position ? `${position.epoch}/${position.seq}/${position.head}` : `0/0/${GENESIS_HASH}`;
}
