/**
 * Sends a tenant's payloads, upload by upload, beside its records. A part whose record has not
 * arrived yet is sent again later; a control plane that is down, or too old to accept any, is asked
 * again after a pause. An upload on which it fails is retried on its own, and split into smaller
 * ones: a part that cannot be stored does not block others. Proven by payload-shipper.test.ts.
 */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { PayloadReceipt, PayloadUpload } from '@governance/shared/evidence/event-payload';
import type { PayloadSpool } from '../../payloads/payload-spool.ts';
import { type BackoffLimits, backoff, createPause, SYNC_BACKOFF } from '../link/backoff.ts';
import { AnswerRefusedError, LinkError } from '../link/link-error.ts';
import { failureMessage, type SyncLog } from '../link/sync-failure.ts';

/** The backoff of one upload on which the control plane fails. */
const PUT_OFF: BackoffLimits = { first: 1_000, longest: 600_000 };
/** Failures of an upload as a whole, before it is split. */
const FAULTS_OF_ALL = 2;

export function startPayloadShipper(options: {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'shipPayloads'>;
  spool: Pick<PayloadSpool, 'next' | 'settle' | 'halve' | 'onAdded'>;
  log: SyncLog;
  backoffLimits?: BackoffLimits;
  putOffLimits?: BackoffLimits;
}) {
  const { tenantId, link, spool, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const pause = createPause();
  /** The poll interval while only postponed uploads are left. */
  const idle = createPause();
  const putOffs = createPutOff(options.putOffLimits ?? PUT_OFF);
  let stopped = false;
  let running: Promise<void> | null = null;
  let again = false;

  const endListening = spool.onAdded((added) => {
    if (added === tenantId) begin();
  });

  function begin(): void {
    again = true;
    idle.wake();
    running ??= run().finally(() => {
      running = null;
      if (again && !stopped) begin();
    });
  }

  async function run(): Promise<void> {
    again = false;
    let failures = 0;
    while (!stopped) {
      try {
        again = false;
        const now = putOffs.look();
        const spooled = await spool.next(tenantId, now.isPutOff);
        if (!spooled) {
          const ms = now.next();
          if (ms === null) return;
          if (!again && !stopped) await idle.wait(ms);
          continue;
        }
        const { name, upload } = spooled;
        const receipt = await ship(upload);
        if (receipt === 'failed') {
          const faults = putOffs.putOff(name);
          if (faults === 1)
            log.warn({ tenantId }, 'the control plane failed on an upload of payloads');
          // Several in a row: it fails on all of them, and must not get all of them at once.
          failures += 1;
          if (faults > FAULTS_OF_ALL && upload.payloads.length > 1) {
            putOffs.forget(name);
            await spool.halve(tenantId, spooled);
          }
        } else if (receipt === 'too_large') {
          putOffs.forget(name);
          await spool.halve(tenantId, spooled);
        } else {
          putOffs.forget(name);
          await spool.settle(tenantId, spooled, receipt);
          failures = receipt.results.includes('waiting') ? failures + 1 : 0;
        }
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          log.warn({ tenantId, reason: failureMessage(error) }, 'payloads were not taken');
        }
      }
      if (failures > 0 && !stopped) await pause.wait(backoff(failures, limits));
    }
  }

  /** What can never be accepted must not block what comes behind it. */
  async function ship(upload: PayloadUpload): Promise<PayloadReceipt | 'too_large' | 'failed'> {
    let receipt: PayloadReceipt;
    try {
      receipt = await link.shipPayloads(upload);
    } catch (error) {
      if (isFault(error)) return 'failed';
      if (!(error instanceof AppError)) throw error;
      // Something on the way may accept less than the control plane.
      if (error.code === 'BODY_TOO_LARGE') return 'too_large';
      if (error.code !== 'VALIDATION_FAILED') throw error;
      return { results: upload.payloads.map(() => 'refused') };
    }
    return receipt.results.length === upload.payloads.length ? receipt : 'failed';
  }

  begin();
  return {
    /** Ends a pause, since the control plane answers. */
    wake: () => pause.wake(),
    stop: async (): Promise<void> => {
      stopped = true;
      endListening();
      pause.wake();
      idle.wake();
      await running;
    },
  };
}

/** A failure of the control plane on this upload: another one may be accepted. */
function isFault(error: unknown): boolean {
  if (error instanceof LinkError) return error.isFault;
  if (error instanceof AppError) return error.code === 'INTERNAL';
  return !(error instanceof AnswerRefusedError);
}

/**
 * Uploads on which the control plane failed: each is postponed on its own, longer each time, and
 * lets the others pass. Kept only in memory: a restart retries all of them.
 */
function createPutOff(limits: BackoffLimits) {
  const waiting = new Map<string, { failures: number; until: number }>();
  return {
    /** Postponed uploads at a time. */
    look: () => {
      const at = performance.now();
      return {
        isPutOff: (name: string): boolean => (waiting.get(name)?.until ?? 0) > at,
        /**
         * Called when nothing else is left: an upload that was due but did not come up is gone.
         *
         * @returns milliseconds until the next is due; null where none waits
         */
        next: (): number | null => {
          let next: number | null = null;
          for (const [name, { until }] of waiting) {
            if (until <= at) waiting.delete(name);
            else next = Math.min(next ?? Number.POSITIVE_INFINITY, until - at);
          }
          return next;
        },
      };
    },
    /** @returns how often it has failed now */
    putOff: (name: string): number => {
      const failures = (waiting.get(name)?.failures ?? 0) + 1;
      waiting.set(name, { failures, until: performance.now() + backoff(failures, limits) });
      return failures;
    },
    forget: (name: string): void => void waiting.delete(name),
  };
}
