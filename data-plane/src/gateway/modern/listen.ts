/**
 * `subscriptions/listen` (MCP 2026-07-28, subscriptions): one stream of the changes that a client
 * asked for, for as long as it holds the connection. Each resource is subscribed to by a judged
 * read, whatever era its server speaks; denied subscriptions are missing from the acknowledgement.
 */
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../enforcement/call/calls.ts';
import { type Enforcer, quiet } from '../../enforcement/enforcer.ts';
import { agentKeyOf } from '../../enforcement/permission/eligibility.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import type { SessionPlace } from '../../upstream/sessions/session-opener.ts';
import type { Announce } from '../capabilities.ts';
import { ineligibleError } from '../failures.ts';
import type { OpenPlaces } from '../open-places.ts';
import { callRouted, type RoutedRead, type Router } from '../router.ts';
import { createServerListener, type ServerListenerDeps } from '../server-listener.ts';
import type { UnreadAnswers } from '../unread-answers.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import type { ModernRequest } from './envelope.ts';
import { type Filter, offeredOf, readFilter } from './listen-filter.ts';
import { ListenStream } from './listen-stream.ts';
import type { ModernCalls } from './modern-calls.ts';
import { createOpenStreams } from './open-streams.ts';
import { createSharedSubscriptions } from './shared-subscriptions.ts';

export interface ListenDeps extends ServerListenerDeps {
  calls: ModernCalls;
  enforcer: ServerListenerDeps['enforcer'] & Pick<Enforcer, 'admit'>;
  router: Pick<Router, 'routeRead' | 'toRead'>;
  door: Pick<Door, 'findIneligibility' | 'isStillEligible' | 'permitsOf'>;
  announce: Announce;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  /** Monotonic milliseconds. */
  elapsed(): number;
  messageBytes: number;
  keepAliveMs: number;
  /** Places for the streams of all agents; without a free one a stream is refused. */
  places: OpenPlaces;
  /** Streams of one agent; a further one ends the oldest. */
  maxPerAgent: number;
}

export type Listen = ReturnType<typeof createListen>;

/** Subscriptions of one stream that are made or ended concurrently: each is a judged call. */
const SUBSCRIBING = 16;

interface Subscription {
  read: RoutedRead;
  /** Whether the subscription was answered. */
  isAnswered: boolean;
}

interface Stream {
  caller: Caller;
  events: ListenStream;
  /** The subscriptions, by the client's name for each. */
  subscribed: Map<string, Subscription>;
  beginning: ConcurrencyLimit;
  ending: ConcurrencyLimit;
}

export function createListen(deps: ListenDeps) {
  const streams = createOpenStreams<Stream>(deps.places, deps.maxPerAgent);
  const subscriptions = createSharedSubscriptions(deps.router, call);

  /** A call that no client request makes: its time starts now. */
  function call(caller: Caller, read: RoutedRead) {
    const anew = { ...caller, arrivedAt: deps.elapsed() };
    return callRouted(anew, read, quiet(), deps.calls.call);
  }

  async function open(caller: Caller, request: ModernRequest, reply: FastifyReply): Promise<void> {
    const refusal = deps.enforcer.admit(caller);
    if (refusal !== undefined) throw refusal;
    const wanted = readFilter(request.params);
    streams.requireRoom(caller);
    const { capabilities } = await deps.announce(caller);
    // The client left in the meantime, and no further event would report that.
    if (reply.raw.destroyed) return;
    // Others may have opened one while the servers were asked.
    streams.requireRoom(caller);
    const { changes, methods, uris } = offeredOf(wanted, capabilities);
    const stream = begin(caller, request, reply, methods);
    await Promise.all(uris.map((uri) => stream.beginning(() => subscribe(stream, uri))));
    if (stream.events.isEnded) return;
    // Servers may have taken their time to answer the subscriptions.
    const ineligible = deps.door.findIneligibility(caller);
    if (ineligible !== undefined) {
      stream.events.abandon();
      throw ineligibleError(ineligible);
    }
    const honoured: Filter = { ...changes };
    if (stream.subscribed.size > 0) honoured.resourceSubscriptions = [...stream.subscribed.keys()];
    stream.events.begin(honoured);
  }

  /** Listens from now on: the first update may come with the answer to a subscription. */
  function begin(
    caller: Caller,
    { id }: ModernRequest,
    reply: FastifyReply,
    methods: ReadonlySet<string>,
  ): Stream {
    const subscribed = new Map<string, Subscription>();
    const listener = createServerListener(caller, deps, ({ method, params }) => {
      const isUpdate = method === 'notifications/resources/updated';
      const isWanted = isUpdate ? subscribed.has(String(params?.uri)) : methods.has(method);
      if (isWanted) events.notify(method, params);
    });
    const events = new ListenStream(reply, {
      id,
      maxBuffered: deps.messageBytes,
      outlet: deps.unread.outletOf(caller),
      keepAliveMs: deps.keepAliveMs,
      isEligible: () => {
        listener.review();
        return deps.door.isStillEligible(caller);
      },
      onEnd: () => {
        listener.end();
        remove(stream);
      },
    });
    listener.review();
    const stream = {
      caller,
      events,
      subscribed,
      beginning: createConcurrencyLimit(SUBSCRIBING),
      // Separate, since a new subscription may wait for an ending one.
      ending: createConcurrencyLimit(SUBSCRIBING),
    };
    streams.add(stream);
    return stream;
  }

  function remove(stream: Stream): void {
    streams.remove(stream);
    for (const [uri, { isAnswered }] of [...stream.subscribed])
      if (isAnswered) release(stream, uri);
  }

  async function subscribe(stream: Stream, uri: string): Promise<void> {
    const { caller, subscribed, events } = stream;
    // The client left while this subscription waited for its turn.
    if (events.isEnded) return;
    let read: RoutedRead;
    try {
      read = deps.router.routeRead(caller, 'resources/subscribe', { uri });
    } catch {
      // No such resource: it is not acknowledged.
      return;
    }
    const own = { read, isAnswered: false };
    // Updates that arrive with the answer already count.
    subscribed.set(uri, own);
    const isSubscribed = await subscriptions.join(caller, read);
    own.isAnswered = true;
    if (!isSubscribed || events.isEnded) release(stream, uri);
  }

  function release({ caller, subscribed, ending }: Stream, uri: string): void {
    const own = subscribed.get(uri);
    if (own === undefined) return;
    subscribed.delete(uri);
    subscriptions.leave(caller, own.read, ending);
  }

  return {
    open,

    /** Subscribes again at a server that lost its session. */
    async renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
      const renewed = new Set<unknown>();
      for (const { caller, subscribed } of streams.all()) {
        const isHere = caller.key === agentKeyOf(tenantId, agentId) && caller.peer?.id === peerId;
        if (!isHere) continue;
        for (const { read } of [...subscribed.values()]) {
          const { uri } = read.ask.args;
          if (read.ask.serverId !== serverId || renewed.has(uri)) continue;
          renewed.add(uri);
          await call(caller, read);
        }
      }
    },

    /** Ends all streams in order when the service stops. */
    close(): void {
      for (const { events } of streams.all()) events.end();
    },
  };
}
