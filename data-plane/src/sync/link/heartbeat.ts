import type { ControlPlaneLink, Heartbeat } from '@governance/shared/channels';
import { type SyncFailure, type SyncLog, toSyncFailure } from './sync-failure.ts';

/** Specification 1, section 8. */
export const HEARTBEAT_MS = 60_000;

/**
 * A beat for news, or because the control plane is back, comes within this time, so that a thousand
 * data planes do not beat at once, and at most once in this time, so that flapping makes no storm.
 */
const SOON_MS = 5_000;

export interface HeartbeatStatus {
  last_received_at: string | null;
  failure: SyncFailure | null;
}

/**
 * Tells the control plane every 60 s, at the start, and soon after something of it has changed, how
 * this data plane is: which rules are in force, how MCP servers answer. A beat that fails is not
 * repeated by itself: the next one says the same. Proven by heartbeat.test.ts.
 */
export function startHeartbeat(options: {
  link: Pick<ControlPlaneLink, 'heartbeat'>;
  body: () => Heartbeat;
  log: SyncLog;
  now: () => number;
  intervalMs?: number;
  /** Told when a beat was received. */
  onReceived?: () => void;
}) {
  const status: HeartbeatStatus = { last_received_at: null, failure: null };
  let beating = false;

  async function beat(): Promise<void> {
    try {
      const { timestamp } = await options.link.heartbeat(options.body());
      status.last_received_at = timestamp;
      status.failure = null;
      options.onReceived?.();
    } catch (error) {
      const failure = toSyncFailure('heartbeat', error, options.now());
      const { code } = failure;
      if (status.failure?.code !== code) options.log.warn({ code }, 'a heartbeat was not received');
      status.failure = failure;
    }
  }

  const start = () => {
    // One at a time: a control plane that hangs must not collect beats.
    if (beating) return;
    beating = true;
    void beat().finally(() => {
      beating = false;
      if (!isDue) return;
      isDue = false;
      beatSoon();
    });
  };
  let soon: NodeJS.Timeout | undefined;
  /** What the beat under way did not tell yet. */
  let isDue = false;
  let isStopped = false;
  let mayBeatAt = 0;
  const beatSoon = () => {
    if (soon !== undefined || isStopped) return;
    const ms = Math.max(SOON_MS * Math.random(), mayBeatAt - performance.now());
    soon = setTimeout(beatNow, ms).unref();
  };
  const beatNow = () => {
    soon = undefined;
    isDue = beating;
    if (beating) return;
    mayBeatAt = performance.now() + SOON_MS;
    start();
  };
  start();
  const timer = setInterval(start, options.intervalMs ?? HEARTBEAT_MS);
  timer.unref();

  return {
    /** Repeats a beat that failed, since the control plane was heard. */
    wake: () => {
      if (status.failure) beatSoon();
    },
    /** Sends a beat within moments, since something that it tells has changed. */
    report: beatSoon,
    status: () => ({ ...status }),
    /** Does not wait for a beat under way. */
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
}
