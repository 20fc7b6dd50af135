/** A client's wait for a person, and its progress notifications. */
import type { HeldCall } from '../../holds/held-calls.ts';
import type { HoldEnd } from '../../holds/kept-hold.ts';
import type { Exchange } from '../call/calls.ts';

export interface HoldWaitLimits {
  /** Milliseconds after which a waiting client is answered that the call is pending. */
  waitMs: number;
  /** Milliseconds between two progress notifications to a client that wants them. */
  progressMs: number;
}

/**
 * Waits until a person has decided, the client has left, or `waitMs` are over.
 *
 * @param message of the progress notifications
 * @returns the state of the hold; null where the client has cancelled
 */
export async function waitForPerson(
  place: HeldCall,
  exchange: Exchange,
  message: string,
  { waitMs, progressMs }: HoldWaitLimits,
): Promise<HoldEnd | null> {
  const { cancellation } = exchange;
  const stopProgress =
    exchange.wantsProgress && place.isPending()
      ? sendProgress(exchange, message, progressMs)
      : undefined;
  let forget: (() => void) | undefined;
  const end = await place.wait(waitMs, (leave) => {
    cancellation.onCancel = leave;
    forget = exchange.onGone?.(leave);
    if (cancellation.isCancelled) leave();
  });
  cancellation.onCancel = null;
  forget?.();
  stopProgress?.();
  if (!cancellation.isCancelled) return end;
  if (end.kind === 'approved') end.approval.release();
  return null;
}

/** So small that the server's progress, which comes later, is above it: progress may only rise. */
const PROGRESS_STEP = 1e-6;

function sendProgress(exchange: Exchange, message: string, everyMs: number): () => void {
  let progress = 0;
  const send = () => {
    progress += PROGRESS_STEP;
    exchange.onNotification({
      method: 'notifications/progress',
      params: { progress, message },
    });
  };
  send();
  const timer = setInterval(send, everyMs);
  return () => clearInterval(timer);
}
