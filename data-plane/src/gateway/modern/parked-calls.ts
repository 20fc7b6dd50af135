/**
 * The open calls of modern clients at legacy servers, found by a server's question, and by the
 * `requestState` with which a client repeats its request. They live only in this process, for as
 * long as their servers wait; nothing else about a modern client is kept in memory.
 */
import { randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { Answer } from '../../enforcement/call/answer.ts';
import type { AgentKey, Ask, Caller } from '../../enforcement/call/calls.ts';
import { addTo } from '../../upstream/shares/fair-shares.ts';
import type { SendToClient, UpstreamPeer } from '../../upstream/upstream.ts';
import {
  type AskedClient,
  bindClient,
  type QuestionDeps,
  type QuestionTarget,
  TOO_MANY,
} from '../client-questions.ts';
import { createOpenPlaces } from '../open-places.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { OpenCall } from './open-call.ts';
import { isOwnState, stateOfCall } from './request-states.ts';

/** A caller whose client servers may ask. */
export type PeerCaller = Caller & { readonly peer: UpstreamPeer };

export interface Entry {
  /** The sender of the newest request for the call. */
  caller: PeerCaller;
  ask: Ask;
  open: OpenCall;
  /** The `requestState` given to the client, until the client uses it. */
  state: string | null;
  /** Drops it when its answer is not fetched. */
  timer: NodeJS.Timeout | null;
  /** To be called when neither the call nor what is kept of it needs the request's body. */
  giveBody: (() => void) | undefined;
}

/** Open calls whose clients were asked something: of one agent, and of all tenants. */
const MAX_OF_AGENT = 64;
const MAX_ALL = 10_000;
/** How long an unfetched answer is kept, and the characters of all such answers. */
const KEPT_MS = 60_000;
const KEPT_LENGTH = 16 * 1024 * 1024;

export type ParkedCalls = ReturnType<typeof createParkedCalls>;

export interface ParkedDeps extends QuestionDeps {
  /** Whether this process has more than one tenant. */
  servesSeveral(): boolean;
}

export function createParkedCalls(deps: ParkedDeps) {
  const bySend = new Map<SendToClient, Entry>();
  const byState = new Map<string, Entry>();
  /** The calls of a peer in progress at a server, by the two. */
  const underWay = new Map<string, Set<Entry>>();
  /** The calls whose clients were asked something, and how many each agent has of these. */
  const placed = new Set<Entry>();
  const byAgent = new Map<AgentKey, number>();
  const places = createOpenPlaces(MAX_ALL, deps.servesSeveral);
  const kept = createKeptAnswers<Entry>(KEPT_LENGTH, forget);

  function begin(caller: PeerCaller, ask: Ask, giveBody?: () => void): Entry {
    const open = new OpenCall();
    const entry: Entry = { caller, ask, open, state: null, timer: null, giveBody };
    bySend.set(open.send, entry);
    const place = placeOf(caller.peer.id, ask.serverId);
    underWay.set(place, (underWay.get(place) ?? new Set()).add(entry));
    return entry;
  }

  /** The server has answered: if no client waits, the answer is kept for a while. */
  function end(entry: Entry, answer: Answer): void {
    const { open, caller, ask, state } = entry;
    bySend.delete(open.send);
    const place = placeOf(caller.peer.id, ask.serverId);
    const others = underWay.get(place);
    if (others?.delete(entry) && others.size === 0) underWay.delete(place);
    open.settle(answer);
    if (state === null || byState.get(state) !== entry) {
      entry.giveBody?.();
      return;
    }
    entry.timer = setTimeout(() => forget(entry), KEPT_MS).unref();
    kept.add(entry, 'raw' in answer ? answer.raw.length : 0);
  }

  /** Forgets a call whose answer was delivered, or is not fetched. */
  function forget(entry: Entry): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    unpark(entry);
    kept.remove(entry);
    // A call that was given up is over soon; until then its server has the body.
    if (!bySend.has(entry.open.send)) entry.giveBody?.();
    if (!placed.delete(entry)) return;
    const { key: agent, tenantId } = entry.caller;
    places.leave(tenantId);
    addTo(byAgent, agent, -1);
  }

  function unpark(entry: Entry): void {
    if (entry.state !== null) byState.delete(entry.state);
    entry.state = null;
  }

  /** Takes a slot for a call whose client is to be asked; false where none is free. */
  function place(entry: Entry): boolean {
    if (placed.has(entry)) return true;
    const { key: agent, tenantId } = entry.caller;
    const count = byAgent.get(agent) ?? 0;
    if (count >= MAX_OF_AGENT || !places.hasRoom(tenantId)) return false;
    placed.add(entry);
    places.take(tenantId);
    addTo(byAgent, agent, 1);
    return true;
  }

  /** With stdio, a question cannot be matched to a call unless there is only one. */
  function entryFor(peerId: string, serverId: string, send: SendToClient | undefined) {
    if (send !== undefined) return bySend.get(send);
    const entries = underWay.get(placeOf(peerId, serverId));
    return entries?.size === 1 ? [...entries][0] : undefined;
  }

  function findTarget(entry: Entry | undefined): QuestionTarget | string {
    if (entry === undefined) {
      return 'The gateway cannot tell for which request of the client this is.';
    }
    // Nobody will fetch its answer, so a place taken now would never be given back.
    if (entry.open.cancellation.isCancelled) return 'The client gave the call up.';
    if (!place(entry)) return TOO_MANY;
    return {
      sender: () => entry.caller,
      deliver: ({ ask }, exchange) => entry.open.ask(ask, exchange, deps.timeoutMs),
    };
  }

  return {
    begin,
    end,

    /** The peer shared by all clients of an agent that declare the same capabilities. */
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

    /** Keeps a call until its client repeats the request. @returns its `requestState` */
    park(entry: Entry): string {
      // A new state each time: a client continues once with each.
      unpark(entry);
      entry.state = stateOfCall(randomBytes(24).toString('base64url'));
      entry.open.isAwaited = false;
      byState.set(entry.state, entry);
      return entry.state;
    },

    forget,

    /**
     * The parked call that a request continues.
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

/** A call, and for whom it is made: both have to be the same when it is continued. */
function digestOf(
  { serverId: path, requesterId, workflow }: Caller,
  { serverId, method, name, args }: Ask,
): string {
  const { sessionToken = null, delegationToken = null, parentEventId = null } = workflow ?? {};
  const origin = { requesterId, sessionToken, delegationToken, parentEventId };
  return canonicalize({ serverId, path, method, name, args, origin });
}
