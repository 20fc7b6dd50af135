/**
 * The way up between the planes as a bad network makes it: batches are lost before or after they
 * were stored, duplicated, delayed and reordered, or cut. Delivered batches pass through their wire
 * form. Repeatable from its random numbers.
 */

import { decodeBatch, encodeBatch } from '@governance/shared/channel/channel-routes';
import { AppError } from '@governance/shared/errors';
import type { BatchReceipt, SignedBatch } from '@governance/shared/ledger/audit-batch';

export interface FaultyLink {
  shipBatch(batch: SignedBatch): Promise<BatchReceipt>;
  /** From now on everything arrives; delayed batches are delivered first, in any order. */
  heal(): Promise<void>;
  /** Answers to late copies that no honest history explains. */
  problems: string[];
  faults: number;
}

export function createFaultyLink(options: {
  deliver: (batch: SignedBatch) => Promise<BatchReceipt>;
  random: () => number;
}): FaultyLink {
  const { random } = options;
  const kept: Buffer[] = [];
  const problems: string[] = [];
  let partitioned = 0;
  let healed = false;
  let faults = 0;

  const deliver = (bytes: Buffer) => options.deliver(decodeBatch(bytes));
  const lost = () => new AppError('UNAVAILABLE', 'the network lost it');

  /** A copy whose sender has moved on: already stored, or not yet possible, and never a fork. */
  async function deliverLate(bytes: Buffer): Promise<void> {
    try {
      await deliver(bytes);
    } catch (error) {
      const kind = error instanceof AppError ? error.errors?.[0]?.type : undefined;
      if (kind !== 'stream_gap') problems.push(`a late copy: ${String(error)}`);
    }
  }

  async function deliverCut(bytes: Buffer): Promise<void> {
    const cut = bytes.subarray(0, Math.floor(random() * bytes.length));
    const receipt = await deliver(Buffer.from(cut)).catch(() => undefined);
    if (receipt) problems.push('a cut batch was acknowledged');
  }

  async function shipBatch(batch: SignedBatch): Promise<BatchReceipt> {
    const bytes = encodeBatch(batch);
    if (healed) return deliver(bytes);
    if (kept.length > 0 && random() < 0.3) {
      await deliverLate(kept.splice(Math.floor(random() * kept.length), 1)[0] as Buffer);
    }
    if (partitioned > 0) {
      partitioned--;
      throw lost();
    }
    const fate = random();
    if (fate < 0.45) return deliver(bytes);
    faults++;
    if (fate < 0.55) {
      partitioned = Math.floor(random() * 4);
      throw lost();
    }
    if (fate < 0.65) {
      await deliver(bytes);
      throw lost();
    }
    if (fate < 0.75) return (await Promise.all([deliver(bytes), deliver(bytes)]))[0];
    if (fate < 0.9) {
      kept.push(bytes);
      throw lost();
    }
    await deliverCut(bytes);
    throw lost();
  }

  return {
    shipBatch,
    heal: async () => {
      healed = true;
      while (kept.length > 0) {
        await deliverLate(kept.splice(Math.floor(random() * kept.length), 1)[0] as Buffer);
      }
    },
    problems,
    get faults() {
      return faults;
    },
  };
}
