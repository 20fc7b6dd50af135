/** A client's wait for a person, and its progress notifications. */
import type { HeldCall } from '../holds/held-calls.ts';
import type { HoldEnd } from '../holds/kept-hold.ts';
import type { Exchange } from './calls.ts';

export interface HoldWaitLimits {
  /** How long a client waits before it gets the answer that the call is pending. */
  waitMs: number;
  /** The interval between two progress notifications to a client that wants them. */
  progressMs: number;
}

/**
 * Waits until a person has decided, the client has left, or it has waited long enough.
 *
 * @param message for a client that wants progress
 * @returns the end; null where the client has cancelled
 */
export async function waitForPerson(
  place: HeldCall,
  exchange: Exchange,
  message: string,
  { waitMs, progressMs }: HoldWaitLimits,
): Promise<HoldEnd | null> {
  const { cancellation } = exchange;
  const stopTelling =
    exchange.wantsProgress && place.isPending()
      ? tellProgress(exchange, message, progressMs)
      : undefined;
  let forget: (() => void) | undefined;
  const end = await place.wait(waitMs, (leave) => {
    cancellation.onCancel = leave;
    forget = exchange.onGone?.(leave);
    if (cancellation.isCancelled) leave();
  });
  cancellation.onCancel = null;
  forget?.();
  stopTelling?.();
  if (!cancellation.isCancelled) return end;
  if (end.kind === 'approved') end.approval.release();
  return null;
}

/** A server's own progress starts above these values: progress may only rise. */
const PROGRESS_STEP = 1e-6;

function tellProgress(exchange: Exchange, message: string, everyMs: number): () => void {
  let told = 0;
  const tell = () => {
    told += PROGRESS_STEP;
    exchange.onNotification({
      method: 'notifications/progress',
      params: { progress: told, message },
    });
  };
  tell();
  const timer = setInterval(tell, everyMs);
  return () => clearInterval(timer);
}
