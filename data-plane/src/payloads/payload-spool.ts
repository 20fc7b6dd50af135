/**
 * Payloads on their way to the control plane: sealed to its key and kept in files, one for each
 * upload, until it has accepted them. The spool never delays a call: what does not fit, or cannot
 * be written, is dropped and reported. What was added shortly before a crash may be lost. Proven by
 * payload-spool.test.ts.
 */

import type { PayloadReceipt, PayloadUpload } from '@governance/shared/evidence/event-payload';
import { DAY_MS } from '@governance/shared/time/durations';
import { createListeners } from '../storage/listeners.ts';
import { createPendingPayloads, isFair, type UsedBytes } from './pending-payloads.ts';
import { type NewPayload, sealUploads } from './seal-uploads.ts';
import { openStoredUploads, sealedAt } from './stored-uploads.ts';

export const PAYLOADS_FOLDER = 'payloads';

/** Bytes on disk expected for each byte of text in memory: sealed as JWE, it is longer. */
const GROWTH = 1.5;
/** Payloads sealed longer ago are dropped: the control plane will not receive their record. */
const EXPIRES_AFTER_MS = 7 * DAY_MS;

export type { NewPayload };

export interface SpooledUpload {
  name: string;
  upload: PayloadUpload;
}

export type PayloadSpool = Awaited<ReturnType<typeof openPayloadSpool>>;

type LossReason = 'expired' | 'unwritable' | 'refused';

export interface PayloadSpoolOptions {
  /** Created if missing. */
  dir: string;
  /** Bytes of all files together, at most. */
  limitBytes: number;
  /** Called for payloads that `add` accepted and that were lost later. */
  onLost(tenantId: string, parts: number, reason: LossReason): void;
  log: { error(fields: object, message: string): void };
  now(): number;
  /** A monotonic clock, milliseconds. */
  elapsed?(): number;
}

/** Opens the folder, counts the bytes in it, and drops expired uploads. */
export async function openPayloadSpool(options: PayloadSpoolOptions) {
  const { now, log, elapsed = () => performance.now() } = options;
  const opened = { at: now(), elapsed: elapsed() };
  const stored = await openStoredUploads(options.dir);
  const listeners = createListeners<[tenantId: string]>();
  const pending = createPendingPayloads({ fitsOnDisk, write, log });
  await dropExpired();

  function isExpired(name: string): boolean {
    // A clock that jumps ahead for a moment would drop all that waits.
    const passed = opened.at + elapsed() - opened.elapsed;
    return sealedAt(name) + EXPIRES_AFTER_MS < Math.min(now(), passed);
  }

  /** Includes tenants that this data plane no longer serves. */
  async function dropExpired(): Promise<void> {
    for (const tenantId of stored.tenantIds()) {
      for (const { name } of stored.filesOf(tenantId).filter((file) => isExpired(file.name))) {
        await giveUp(tenantId, name, 'expired');
      }
    }
  }

  /** Never throws: the writes behind this one have to go on. */
  function lose(tenantId: string, parts: number, reason: LossReason): void {
    try {
      options.onLost(tenantId, parts, reason);
    } catch (err) {
      log.error({ err, tenantId, parts, reason }, 'the loss of payloads could not be reported');
    }
  }

  async function giveUp(tenantId: string, name: string, reason: 'expired' | 'unwritable') {
    const upload = await stored.read(tenantId, name);
    const isLost = await stored.remove(tenantId, name);
    if (isLost) lose(tenantId, upload?.payloads.length ?? 1, reason);
  }

  async function write(tenantId: string, payloads: readonly NewPayload[]): Promise<void> {
    const unwritable = (parts: number) => lose(tenantId, parts, 'unwritable');
    for await (const upload of sealUploads(payloads, () => unwritable(1))) {
      await stored.store(tenantId, now(), upload).catch(() => unwritable(upload.length));
    }
    listeners.notify(tenantId);
  }

  function fitsOnDisk(tenantId: string, waiting: UsedBytes): boolean {
    const all = stored.bytes() + waiting.all * GROWTH;
    const own = stored.bytesOf(tenantId) + waiting.own * GROWTH;
    return isFair({ all, own }, options.limitBytes);
  }

  return {
    /** @returns false where there is no room; the payload is then not kept */
    add: (payload: NewPayload): boolean => {
      if (pending.add(payload)) return true;
      pending.afterWrites(() =>
        dropExpired().catch((err) => log.error({ err }, 'expired payloads could not be removed')),
      );
      return false;
    },

    /**
     * The tenant's oldest upload; null when none waits.
     *
     * @param isPutOff whether to skip an upload, by its name
     */
    next: async (
      tenantId: string,
      isPutOff: (name: string) => boolean = () => false,
    ): Promise<SpooledUpload | null> => {
      for (;;) {
        const file = stored.filesOf(tenantId).find((one) => !isPutOff(one.name));
        if (file === undefined) return null;
        const { name } = file;
        const upload = isExpired(name) ? undefined : await stored.read(tenantId, name);
        if (upload) return { name, upload };
        await giveUp(tenantId, name, isExpired(name) ? 'expired' : 'unwritable');
      }
    },

    /**
     * Removes what the control plane accepted or refused; what it left waiting moves to the end.
     */
    settle: async (
      tenantId: string,
      { name, upload }: SpooledUpload,
      { results }: PayloadReceipt,
    ): Promise<void> => {
      const { payloads } = upload;
      const waiting = payloads.filter((_, index) => results[index] === 'waiting');
      const refused = results.filter((result) => result === 'refused').length;
      if (waiting.length > 0) await stored.store(tenantId, sealedAt(name), waiting);
      await stored.remove(tenantId, name);
      if (refused > 0) lose(tenantId, refused, 'refused');
    },

    /** Splits an upload that the control plane found too large; a single payload is dropped. */
    halve: async (
      tenantId: string,
      { name, upload: { payloads } }: SpooledUpload,
    ): Promise<void> => {
      const middle = Math.ceil(payloads.length / 2);
      for (const half of [payloads.slice(0, middle), payloads.slice(middle)]) {
        if (payloads.length > 1) await stored.store(tenantId, sealedAt(name), half);
      }
      await stored.remove(tenantId, name);
      if (payloads.length === 1) lose(tenantId, 1, 'refused');
    },

    /** Calls back when an upload of a tenant was written; returns the unsubscribe. */
    onAdded: listeners.add,
    /** Bytes on disk. */
    bytes: stored.bytes,
    /** Writes the text in memory to disk. */
    flush: pending.flush,
  };
}
