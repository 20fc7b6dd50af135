import type { ControlPlaneLink, Heartbeat } from '@governance/shared/channels';
import { failureCode, failureMessage, type SyncFailure, type SyncLog } from './sync-status.ts';

/** Specification 1, section 8. */
export const HEARTBEAT_MS = 60_000;

/**
 * Not in a hurry: who hears that the control plane is back, or has other rules in force, beats
 * within this, so that a thousand data planes do not beat at once.
 */
const SOON_MS = 5_000;

export interface HeartbeatStatus {
  last_received_at: string | null;
  failure: SyncFailure | null;
}

/**
 * Tells the control plane every 60 s, at the start, and soon after other rules came into force, how
 * this data plane is. A beat that
 * fails is not repeated by itself: the next one says the same.
 */
export function startHeartbeat(options: {
  link: Pick<ControlPlaneLink, 'heartbeat'>;
  body: () => Heartbeat;
  log: SyncLog;
  now: () => number;
  intervalMs?: number;
}) {
  const status: HeartbeatStatus = { last_received_at: null, failure: null };
  let beating = false;

  async function beat(): Promise<void> {
    try {
      const { timestamp } = await options.link.heartbeat(options.body());
      status.last_received_at = timestamp;
      status.failure = null;
    } catch (error) {
      const at = new Date(options.now()).toISOString();
      const code = failureCode(error);
      if (status.failure?.code !== code) options.log.warn({ code }, 'a heartbeat was not received');
      status.failure = { stage: 'heartbeat', code, message: failureMessage(error), at };
    }
  }

  const start = () => {
    // One at a time: a control plane that hangs must not collect beats.
    if (beating) return;
    beating = true;
    void beat().finally(() => {
      beating = false;
    });
  };
  start();
  const timer = setInterval(start, options.intervalMs ?? HEARTBEAT_MS);
  timer.unref();
  let soon: NodeJS.Timeout | undefined;
  const beatSoon = () => {
    clearTimeout(soon);
    soon = setTimeout(start, SOON_MS * Math.random()).unref();
  };

  return {
    /** Repeats a beat that failed, since the control plane was heard. */
    wake: () => {
      if (status.failure) beatSoon();
    },
    /** Something that the body tells has changed: the control plane hears of it within moments. */
    report: beatSoon,
    status: () => ({ ...status }),
    /** Does not wait for a beat under way. */
    stop: () => {
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
}
