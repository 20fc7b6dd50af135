/**
 * The open calls of modern clients at legacy servers: found by what a server asks, and by the
 * `requestState` with which a client makes its request again. They live in this process alone, for
 * as long as their servers wait; all else of a modern client needs no memory of it.
 */
import { randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import { RPC_ERRORS } from '@governance/shared/errors';
import type { RawCall } from '../../enforcement/calls.ts';
import type { CallAnswer } from '../../enforcement/enforcer.ts';
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
import { isOwnState, stateOfCall } from './request-states.ts';

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
  /** Whether its client was asked something: then it has one of the places that are bounded. */
  isPlaced: boolean;
  /** What the client got as `requestState`, while it has not gone on with it. */
  state: string | null;
  /** Drops it when its answer is not fetched. */
  timer: NodeJS.Timeout | null;
}

/** Calls of one agent, and of all, whose clients were asked something and that are not over. */
const MAX_OF_AGENT = 64;
const MAX_ALL = 10_000;
/** How long an answer is kept that no client has fetched, and characters of all such answers. */
const KEPT_MS = 60_000;
const KEPT_LENGTH = 16 * 1024 * 1024;

export type ParkedCalls = ReturnType<typeof createParkedCalls>;

/** Builds the registry. */
export function createParkedCalls(deps: ParkedCallsDeps) {
  const bySend = new Map<SendToClient, Entry>();
  const byState = new Map<string, Entry>();
  /** The calls of a peer at a server that are under way, by the two. */
  const underWay = new Map<string, Set<Entry>>();
  /** The places that are taken, by agent. */
  const places = new Map<string, number>();
  let placed = 0;
  /** Answers that wait for their clients, the oldest first, with their lengths. */
  const kept = new Map<Entry, number>();
  let keptLength = 0;

  function begin(call: RawCall & { peer: UpstreamPeer }): Entry {
    const open = new OpenCall();
    const entry: Entry = { call, open, isPlaced: false, state: null, timer: null };
    bySend.set(entry.open.send, entry);
    const place = placeOf(call.peer.id, call.serverId);
    underWay.set(place, (underWay.get(place) ?? new Set()).add(entry));
    return entry;
  }

  /** The server has answered: where its client does not wait, that is kept for a while. */
  function end(entry: Entry, answer: CallAnswer): void {
    const { open, call, state } = entry;
    bySend.delete(open.send);
    const place = placeOf(call.peer.id, call.serverId);
    const others = underWay.get(place);
    if (others?.delete(entry) && others.size === 0) underWay.delete(place);
    open.settle(answer);
    if (state === null || byState.get(state) !== entry) return;
    entry.timer = setTimeout(() => forget(entry), KEPT_MS).unref();
    const length = 'raw' in answer ? answer.raw.length : 0;
    kept.set(entry, length);
    keptLength += length;
    for (const [oldest] of kept) {
      if (keptLength <= KEPT_LENGTH) break;
      forget(oldest);
    }
  }

  /** Forgets a call whose answer its client has, or does not fetch. */
  function forget(entry: Entry): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    unpark(entry);
    keptLength -= kept.get(entry) ?? 0;
    kept.delete(entry);
    if (!entry.isPlaced) return;
    entry.isPlaced = false;
    placed--;
    const agent = agentOf(entry.call);
    const count = (places.get(agent) ?? 1) - 1;
    if (count > 0) places.set(agent, count);
    else places.delete(agent);
  }

  function unpark(entry: Entry): void {
    if (entry.state !== null) byState.delete(entry.state);
    entry.state = null;
  }

  /** Whether its client may be asked: how many wait for theirs is bounded. */
  function place(entry: Entry): boolean {
    if (entry.isPlaced) return true;
    const agent = agentOf(entry.call);
    const count = places.get(agent) ?? 0;
    if (count >= MAX_OF_AGENT || placed >= MAX_ALL) return false;
    entry.isPlaced = true;
    placed++;
    places.set(agent, count + 1);
    return true;
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
    if (!place(entry)) {
      return errorText(id, RPC_ERRORS.INTERNAL, 'Too many requests wait for the client.');
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

    /**
     * The peer of all clients of an agent that declare the same.
     *
     * @param owner tenant and agent, as they were proven
     */
    peer(owner: string, capabilities: Record<string, unknown>): UpstreamPeer {
      const id = `modern ${owner} ${JSON.stringify(capabilities)}`;
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
      unpark(entry);
      entry.state = stateOfCall(randomBytes(24).toString('base64url'));
      entry.open.isAwaited = false;
      byState.set(entry.state, entry);
      return entry.state;
    },

    forget,

    /**
     * The parked call that a request goes on with.
     *
     * @returns `none` where the state is no gateway's, `unknown` where it is, and there is no such
     * call of this client, or it is made with another request
     */
    find(call: RawCall): Entry | 'none' | 'unknown' {
      const state = call.retry?.requestState;
      if (state === undefined || !isOwnState(state)) return 'none';
      const entry = byState.get(state);
      if (entry === undefined || entry.open.isAwaited) return 'unknown';
      const isOwn = agentOf(entry.call) === agentOf(call) && entry.call.peer.id === call.peer?.id;
      return isOwn && digestOf(entry.call) === digestOf(call) ? entry : 'unknown';
    },
  };
}

/** Tenant and agent, as they were proven. */
function agentOf({ owner = '' }: RawCall): string {
  return owner;
}

function placeOf(peerId: string, serverId: string): string {
  return `${peerId} ${serverId}`;
}

function digestOf({ serverId, audienceServerId, method, toolName, args }: RawCall): string {
  return canonicalize({ serverId, audienceServerId, method, toolName, args });
}
