/**
 * The open calls of modern clients at legacy servers: found by what a server asks, and by the
 * `requestState` with which a client makes its request again. They live in this process alone, for
 * as long as their servers wait; all else of a modern client needs no memory of it.
 */
import { randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import type { Answer } from '../../enforcement/answer.ts';
import type { AgentKey, Ask, Caller } from '../../enforcement/calls.ts';
import type { SendToClient, UpstreamPeer } from '../../upstream/upstream.ts';
import {
  type AskedClient,
  bindClient,
  type QuestionDeps,
  type QuestionTarget,
  TOO_MANY,
} from '../client-questions.ts';
import { OpenCall } from './open-call.ts';
import { isOwnState, stateOfCall } from './request-states.ts';

/** A caller whose client servers may ask. */
export type PeerCaller = Caller & { readonly peer: UpstreamPeer };

export interface Entry {
  caller: PeerCaller;
  ask: Ask;
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

export function createParkedCalls(deps: QuestionDeps) {
  const bySend = new Map<SendToClient, Entry>();
  const byState = new Map<string, Entry>();
  /** The calls of a peer at a server that are under way, by the two. */
  const underWay = new Map<string, Set<Entry>>();
  /** The places that are taken, by agent. */
  const places = new Map<AgentKey, number>();
  let placed = 0;
  /** Answers that wait for their clients, the oldest first, with their lengths. */
  const kept = new Map<Entry, number>();
  let keptLength = 0;

  function begin(caller: PeerCaller, ask: Ask): Entry {
    const open = new OpenCall();
    const entry: Entry = { caller, ask, open, isPlaced: false, state: null, timer: null };
    bySend.set(entry.open.send, entry);
    const place = placeOf(caller.peer.id, ask.serverId);
    underWay.set(place, (underWay.get(place) ?? new Set()).add(entry));
    return entry;
  }

  /** The server has answered: where its client does not wait, that is kept for a while. */
  function end(entry: Entry, answer: Answer): void {
    const { open, caller, ask, state } = entry;
    bySend.delete(open.send);
    const place = placeOf(caller.peer.id, ask.serverId);
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
    const agent = entry.caller.key;
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
    const agent = entry.caller.key;
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

  function findTarget(entry: Entry | undefined): QuestionTarget | string {
    if (entry === undefined) {
      return 'The gateway cannot tell for which request of the client this is.';
    }
    if (!place(entry)) return TOO_MANY;
    const { caller, open } = entry;
    return { caller, deliver: ({ ask }, exchange) => open.ask(ask, exchange, deps.timeoutMs) };
  }

  return {
    begin,
    end,

    /** The peer of all clients of an agent that declare the same. */
    peer(agent: AgentKey, capabilities: Record<string, unknown>): UpstreamPeer {
      const id = `modern ${agent} ${JSON.stringify(capabilities)}`;
      const client: AskedClient = {
        capabilities,
        needsStream: true,
        findTarget: (serverId, send) => findTarget(entryFor(id, serverId, send)),
      };
      const bind = (serverId: string) => bindClient(client, serverId, deps);
      return { id, capabilities, needsStream: true, bind };
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
    find(caller: Caller, ask: Ask): Entry | 'none' | 'unknown' {
      const state = ask.retry?.requestState;
      if (state === undefined || !isOwnState(state)) return 'none';
      const entry = byState.get(state);
      if (entry === undefined || entry.open.isAwaited) return 'unknown';
      const isOwn = entry.caller.key === caller.key && entry.caller.peer.id === caller.peer?.id;
      const isSame = digestOf(entry.caller, entry.ask) === digestOf(caller, ask);
      return isOwn && isSame ? entry : 'unknown';
    },
  };
}

function placeOf(peerId: string, serverId: string): string {
  return `${peerId} ${serverId}`;
}

function digestOf({ serverId: path }: Caller, { serverId, method, name, args }: Ask): string {
  return canonicalize({ serverId, path, method, name, args });
}
