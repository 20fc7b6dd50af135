/**
 * The open calls of modern clients at legacy servers: found by what a server asks, and by the
 * `requestState` with which a client makes its request again. They live in this process alone, for
 * as long as their servers wait; all else of a modern client needs no memory of it.
 */
import { randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import { RPC_ERRORS } from '@governance/shared/errors';
import type { RawCall } from '../../enforcement/calls.ts';
import {
  Cancellation,
  type SendToClient,
  type ServerRequest,
  type SessionPeer,
  type UpstreamPeer,
} from '../../upstream/upstream.ts';
import { answerText, askedCall, canAnswer } from '../askable.ts';
import type { Guard } from '../guard.ts';
import { errorText } from '../json-rpc.ts';
import { OpenCall } from './open-call.ts';

export interface ParkedCallsDeps {
  guard: Pick<Guard, 'call'>;
  /** Unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Milliseconds that a client may take to answer. */
  timeoutMs: number;
}

interface Entry {
  call: RawCall & { peer: UpstreamPeer };
  open: OpenCall;
  /** What the client gets as `requestState`, once it was asked something. */
  state: string | null;
  /** Drops it when its answer is not fetched. */
  timer: NodeJS.Timeout | null;
}

/** Begins what the client gets as `requestState`, so that it is not taken for a server's own. */
const STATE_PREFIX = 'gateway-';
/** Calls that may be open for the like clients of one agent, and for all. */
const MAX_OF_PEER = 64;
const MAX_ALL = 10_000;
/** How long an answer is kept that no client has fetched. */
const KEPT_MS = 60_000;

export type ParkedCalls = ReturnType<typeof createParkedCalls>;

/** Builds the registry. */
export function createParkedCalls(deps: ParkedCallsDeps) {
  const bySend = new Map<SendToClient, Entry>();
  const byState = new Map<string, Entry>();
  /** The calls of a peer at a server that are under way, by the two. */
  const underWay = new Map<string, Set<Entry>>();
  const ofPeer = new Map<string, number>();

  /** Null: too many are open. */
  function begin(call: RawCall & { peer: UpstreamPeer }): Entry | null {
    const count = ofPeer.get(call.peer.id) ?? 0;
    if (count >= MAX_OF_PEER || bySend.size >= MAX_ALL) return null;
    const entry: Entry = { call, open: new OpenCall(), state: null, timer: null };
    ofPeer.set(call.peer.id, count + 1);
    bySend.set(entry.open.send, entry);
    const place = placeOf(call.peer.id, call.serverId);
    underWay.set(place, (underWay.get(place) ?? new Set()).add(entry));
    return entry;
  }

  /** The server has answered. */
  function end(entry: Entry): void {
    bySend.delete(entry.open.send);
    const { peer, serverId } = entry.call;
    const count = (ofPeer.get(peer.id) ?? 1) - 1;
    if (count > 0) ofPeer.set(peer.id, count);
    else ofPeer.delete(peer.id);
    const place = placeOf(peer.id, serverId);
    const others = underWay.get(place);
    if (others?.delete(entry) && others.size === 0) underWay.delete(place);
  }

  /** Of stdio nobody can tell with which call a question came, unless there is but one. */
  function entryFor(peerId: string, serverId: string, send: SendToClient | undefined) {
    if (send !== undefined) return bySend.get(send);
    const entries = underWay.get(placeOf(peerId, serverId));
    return entries?.size === 1 ? [...entries][0] : undefined;
  }

  async function ask(
    capabilities: Record<string, unknown>,
    entry: Entry | undefined,
    { id, method, params }: ServerRequest,
    onAsked: (cancel: () => void) => void,
  ): Promise<string | null> {
    if (entry === undefined) {
      const message = 'The gateway cannot tell for which request of the client this is.';
      return errorText(id, RPC_ERRORS.INTERNAL, message);
    }
    if (!canAnswer(capabilities, method, params)) {
      const message = `The client does not support ${method}.`;
      return errorText(id, RPC_ERRORS.METHOD_NOT_FOUND, message);
    }
    const { call, open } = entry;
    const { _meta, ...shown } = params;
    const asked = askedCall(call, call.serverId, { method, params }, deps, {
      request: (request, exchange) => open.ask(request, shown, exchange, deps.timeoutMs),
    });
    const cancellation = new Cancellation();
    onAsked(() => cancellation.cancel());
    const exchange = { cancellation, wantsProgress: false, onNotification: () => undefined };
    return answerText(id, await deps.guard.call(asked, exchange));
  }

  return {
    begin,
    end,

    /** The peer of all clients of an agent that declare the same. */
    peer(agentId: string, capabilities: Record<string, unknown>): UpstreamPeer {
      const id = `modern ${agentId} ${JSON.stringify(capabilities)}`;
      return {
        id,
        capabilities,
        needsStream: true,
        bind(serverId): SessionPeer {
          const asked = new Map<string, () => void>();
          return {
            capabilities,
            needsStream: true,
            async ask(request, send) {
              const key = JSON.stringify(request.id);
              try {
                const entry = entryFor(id, serverId, send);
                return await ask(capabilities, entry, request, (cancel) => asked.set(key, cancel));
              } finally {
                asked.delete(key);
              }
            },
            withdraw: (requestId) => asked.get(JSON.stringify(requestId))?.(),
            abandon: () => {
              for (const cancel of asked.values()) cancel();
            },
          };
        },
      };
    },

    /** Keeps a call until its client makes the request again. @returns its `requestState` */
    park(entry: Entry): string {
      // Another one each time: a client goes on once with each.
      if (entry.state !== null) byState.delete(entry.state);
      entry.state = `${STATE_PREFIX}${randomBytes(24).toString('base64url')}`;
      entry.open.isAwaited = false;
      byState.set(entry.state, entry);
      return entry.state;
    },

    /** Forgets a parked call a while after its server has answered. */
    dropLater(entry: Entry): void {
      if (entry.state === null) return;
      entry.timer = setTimeout(() => entry.state && byState.delete(entry.state), KEPT_MS).unref();
    },

    /** Forgets a call whose answer its client has. */
    forget(entry: Entry): void {
      if (entry.timer !== null) clearTimeout(entry.timer);
      if (entry.state !== null) byState.delete(entry.state);
    },

    /**
     * The parked call that a request goes on with.
     *
     * @returns `none` where the state is no gateway's, `unknown` where it is, and there is no such
     * call of this client, or it is made with another request
     */
    find(call: RawCall): Entry | 'none' | 'unknown' {
      const state = call.retry?.requestState;
      if (state === undefined || !state.startsWith(STATE_PREFIX)) return 'none';
      const entry = byState.get(state);
      if (entry === undefined || entry.open.isAwaited) return 'unknown';
      // A peer is an agent's, so this is the same agent as well.
      const isOwn = entry.call.peer.id === call.peer?.id;
      return isOwn && digestOf(entry.call) === digestOf(call) ? entry : 'unknown';
    },

    /** How many calls are open, for the bound on them. */
    count: () => bySend.size,
  };
}

function placeOf(peerId: string, serverId: string): string {
  return `${peerId} ${serverId}`;
}

function digestOf({ serverId, audienceServerId, method, toolName, args }: RawCall): string {
  return canonicalize({ serverId, audienceServerId, method, toolName, args });
}
