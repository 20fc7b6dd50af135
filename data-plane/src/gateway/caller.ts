import type { ReplicaAgent } from '../contracts.ts';
import type { Credential } from '../enforcement/credentials.ts';

/** The agent behind one HTTP request, proven. */
export interface Caller {
  readonly tenantId: string;
  readonly agent: ReplicaAgent;
  readonly credential: Credential;
  /** The server of the path, null at the unified gateway. */
  readonly serverId: string | null;
  readonly requesterId: string | null;
  /** Joins the log lines of one request. */
  readonly requestId: string;
  /** Monotonic milliseconds at which the request came in. */
  readonly arrivedAt: number;
}
