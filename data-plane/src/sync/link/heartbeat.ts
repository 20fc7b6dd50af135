import type {
  ControlPlaneLink,
  Heartbeat,
  HeartbeatReceipt,
} from '@governance/shared/channel/channels';
import { aboutFailure, type SyncFailure, type SyncLog, toSyncFailure } from './sync-failure.ts';

/** Specification 1, section 8. */
export const HEARTBEAT_MS = 60_000;

/**
 * A heartbeat for news, or because the control plane is back, is sent within this time, spread so
 * that a thousand data planes do not send at once, and at most once in this time, so that flapping
 * causes no storm.
 */
const SOON_MS = 5_000;

export interface HeartbeatStatus {
  last_received_at: string | null;
  failure: SyncFailure | null;
}

/**
 * Reports to the control plane every 60 s, at the start, and soon after a change, the state of this
 * data plane: which rules are in force, how MCP servers answer. A failed heartbeat is not repeated
 * by itself: the next one says the same. Proven by heartbeat.test.ts.
 */
export function startHeartbeat(options: {
  /** Named in the log. */
  tenantId?: string;
  link: Pick<ControlPlaneLink, 'heartbeat'>;
  body: () => Heartbeat;
  log: SyncLog;
  now: () => number;
  intervalMs?: number;
  /** Called when a heartbeat was received, with what it said. */
  onReceived?: (sent: Heartbeat, receipt: HeartbeatReceipt) => void;
}) {
  const status: HeartbeatStatus = { last_received_at: null, failure: null };
  let beating = false;

  async function beat(): Promise<void> {
    try {
      const sent = options.body();
      const receipt = await options.link.heartbeat(sent);
      status.last_received_at = receipt.timestamp;
      status.failure = null;
      options.onReceived?.(sent, receipt);
    } catch (error) {
      const failure = toSyncFailure('heartbeat', error, options.now());
      if (status.failure?.code !== failure.code) {
        const { tenantId, log } = options;
        log.warn({ tenantId, ...aboutFailure(failure) }, 'a heartbeat was not received');
      }
      status.failure = failure;
    }
  }

  const start = () => {
    // One at a time: a control plane that hangs must not accumulate them.
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
  /** Changes that the heartbeat in flight does not include. */
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
    /** Repeats a failed heartbeat, since the control plane answers again. */
    wake: () => {
      if (status.failure) beatSoon();
    },
    /** Sends a heartbeat soon, since its content has changed. */
    report: beatSoon,
    status: () => ({ ...status }),
    /** Does not wait for a heartbeat in flight. */
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
}
