/**
 * Sends a tenant's payloads, upload by upload, beside its records. A part whose record has not
 * arrived yet goes again later; a control plane that is away, or too old to take any, is asked again
 * after a pause. Proven by payload-shipper.test.ts.
 */
import type { ControlPlaneLink } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { PayloadReceipt, PayloadUpload } from '@governance/shared/event-payload';
import type { PayloadSpool } from '../../payloads/payload-spool.ts';
import { type BackoffLimits, backoff, createPause, SYNC_BACKOFF } from '../link/backoff.ts';
import { failureMessage, type SyncLog } from '../link/sync-failure.ts';

export interface PayloadShipperOptions {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'shipPayloads'>;
  spool: Pick<PayloadSpool, 'next' | 'settle' | 'halve' | 'onAdded'>;
  log: SyncLog;
  backoffLimits?: BackoffLimits;
}

export function startPayloadShipper(options: PayloadShipperOptions) {
  const { tenantId, link, spool, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const pause = createPause();
  let stopped = false;
  let running: Promise<void> | null = null;
  let again = false;

  const endListening = spool.onAdded((added) => {
    if (added === tenantId) begin();
  });

  function begin(): void {
    again = true;
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
        const spooled = await spool.next(tenantId);
        if (!spooled) return;
        const receipt = await ship(spooled.upload);
        if (receipt === 'too_large') {
          await spool.halve(tenantId, spooled);
          continue;
        }
        if (receipt.results.length !== spooled.upload.payloads.length) {
          throw new TypeError('the receipt is not that of the upload');
        }
        await spool.settle(tenantId, spooled, receipt);
        failures = receipt.results.includes('waiting') ? failures + 1 : 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          log.warn({ tenantId, reason: failureMessage(error) }, 'payloads were not taken');
        }
      }
      if (failures > 0 && !stopped) await pause.wait(backoff(failures, limits));
    }
  }

  /** What can never be taken must not hold up what comes behind it. */
  async function ship(upload: PayloadUpload): Promise<PayloadReceipt | 'too_large'> {
    try {
      return await link.shipPayloads(upload);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Something on the way may take less than the control plane.
      if (error.code === 'BODY_TOO_LARGE') return 'too_large';
      if (error.code !== 'VALIDATION_FAILED') throw error;
      return { results: upload.payloads.map(() => 'refused') };
    }
  }

  begin();
  return {
    /** Ends a pause, since the control plane was heard. */
    wake: () => pause.wake(),
    stop: async (): Promise<void> => {
      stopped = true;
      endListening();
      pause.wake();
      await running;
    },
  };
}
