import type { IncomingHttpHeaders } from 'node:http';
import type { ReplicaAgent } from '../contracts.ts';
import type { Deny } from '../enforcement/calls.ts';
import type { Credential } from '../enforcement/credentials.ts';
import type { Era, UpstreamPeer } from '../upstream/upstream.ts';

/** The agent behind one HTTP request, proven. */
export interface Caller {
  readonly tenantId: string;
  readonly agent: ReplicaAgent;
  /** Why it may do nothing in any case, as it stood when it was identified. */
  readonly bar?: Deny | undefined;
  readonly credential: Credential;
  /** The server of the path, null at the unified gateway. */
  readonly serverId: string | null;
  readonly requesterId: string | null;
  /** Joins the log lines of one request. */
  readonly requestId: string;
  /** The client, where servers may ask it something. */
  readonly peer?: UpstreamPeer | undefined;
  /** Of a modern client's request: those that repeat its arguments are held against them. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Legacy where it says nothing. */
  readonly era?: Era | undefined;
  /** Monotonic milliseconds at which the request came in. */
  readonly arrivedAt: number;
  /** Gateways that the request passed before this one. */
  readonly hops?: number | undefined;
}
