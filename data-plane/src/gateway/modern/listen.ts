/**
 * `subscriptions/listen` (MCP 2026-07-28, subscriptions): one stream of the changes that a client
 * asked for, for as long as it holds the connection. Each resource is subscribed to by a judged
 * read, whatever era its server speaks; what is denied is missing from the acknowledgement.
 */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RulesProvider } from '../../contracts.ts';
import type { SessionPlace, UpstreamPool } from '../../upstream/pool.ts';
import { Cancellation, type UpstreamNotification } from '../../upstream/upstream.ts';
import { badParams } from '../call-routing.ts';
import type { Caller } from '../caller.ts';
import type { Announce } from '../capabilities.ts';
import type { Guard } from '../guard.ts';
import { createHearing, mayHear } from '../hearing.ts';
import { GatewayError, isObject } from '../json-rpc.ts';
import type { ReadService, RoutedRead } from '../read-service.ts';
import { unifiedNotification } from '../unified.ts';
import type { UnreadAnswers } from '../unread-answers.ts';
import { isStillWelcome } from '../welcome.ts';
import type { ModernRequest } from './envelope.ts';
import { ListenStream } from './listen-stream.ts';
import { createTurns, type Turns } from './turns.ts';

export interface ListenDeps {
  guard: Pick<Guard, 'findBar' | 'identify' | 'findAgent'>;
  rules: RulesProvider;
  reads: ReadService;
  announce: Announce;
  pool: Pick<UpstreamPool, 'listen'>;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  messageBytes: number;
  keepAliveMs: number;
  /** Streams of all agents; a further one is refused. */
  max: number;
  /** Streams of one agent; a further one ends the oldest. */
  maxPerAgent: number;
}

export type Listen = ReturnType<typeof createListen>;

const MAX_URIS = 1000;
/** Subscriptions of one stream that are begun or ended at a time: each is a judged call. */
const SUBSCRIBING = 16;

const Filter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).max(MAX_URIS).optional(),
});
type Filter = z.infer<typeof Filter>;

const CHANGES = {
  toolsListChanged: { capability: 'tools', method: 'notifications/tools/list_changed' },
  promptsListChanged: { capability: 'prompts', method: 'notifications/prompts/list_changed' },
  resourcesListChanged: { capability: 'resources', method: 'notifications/resources/list_changed' },
} as const;
type Change = keyof typeof CHANGES;

interface Held {
  read: RoutedRead;
  /** Whether the subscription was answered. */
  isAnswered: boolean;
}

interface Stream {
  agentKey: string;
  caller: Caller;
  events: ListenStream;
  /** What is subscribed to, by what the client calls it. */
  held: Map<string, Held>;
  beginning: Turns;
  ending: Turns;
}

/** A subscription that the sessions with servers share. */
interface Shared {
  /** How many streams hold it. */
  holders: number;
  /** Whether the server was told of it. */
  isTold: boolean;
}

/** Builds it. */
export function createListen(deps: ListenDeps) {
  /** The oldest first. */
  const streams = new Set<Stream>();
  const shared = new Map<string, Shared>();
  /** The ends of subscriptions that are under way: the next one of the same waits for it. */
  const leaving = new Map<string, Promise<unknown>>();

  async function open(caller: Caller, request: ModernRequest, reply: FastifyReply): Promise<void> {
    const wanted = readFilter(request.params);
    if (streams.size >= deps.max) {
      throw new GatewayError(503, 'Too many streams are open: try again later.');
    }
    const { capabilities } = await deps.announce(caller);
    // Its client left meanwhile, and nothing would tell of that any more.
    if (reply.raw.destroyed) return;
    const can = (name: string, what: string) => {
      const capability = capabilities[name];
      return isObject(capability) && capability[what] === true;
    };
    const changes = (Object.keys(CHANGES) as Change[]).filter(
      (name) => wanted[name] === true && can(CHANGES[name].capability, 'listChanged'),
    );
    const methods = new Set<string>(changes.map((name) => CHANGES[name].method));
    const uris = can('resources', 'subscribe') ? [...new Set(wanted.resourceSubscriptions)] : [];

    const stream = begin(caller, request, reply, methods);
    await Promise.all(uris.map((uri) => stream.beginning(() => subscribe(stream, uri))));
    const honoured: Filter = Object.fromEntries(changes.map((name) => [name, true]));
    if (stream.held.size > 0) honoured.resourceSubscriptions = [...stream.held.keys()];
    stream.events.begin(honoured);
  }

  /** Listens from now on: the first update may come with the answer to a subscription. */
  function begin(
    caller: Caller,
    { id }: ModernRequest,
    reply: FastifyReply,
    methods: ReadonlySet<string>,
  ): Stream {
    const { tenantId, agent, serverId } = caller;
    const agentKey = `${tenantId} ${agent.id}`;
    const held = new Map<string, Held>();
    const hear = (from: string, notification: UpstreamNotification) => {
      const { method, params } =
        serverId === null ? unifiedNotification(from, notification) : notification;
      const isUpdate = method === 'notifications/resources/updated';
      const isWanted = isUpdate ? held.has(String(params?.uri)) : methods.has(method);
      if (isWanted && mayHear(caller, deps, from, notification)) {
        events.notify(method, params);
      }
    };
    const hearing = createHearing(caller, deps, () =>
      deps.pool.listen(tenantId, agent.id, serverId, hear, caller.peer?.id, caller.hops),
    );
    const events = new ListenStream(reply, {
      id,
      maxBuffered: deps.messageBytes,
      outlet: deps.unread.outletOf(agentKey),
      keepAliveMs: deps.keepAliveMs,
      isWelcome: () => {
        hearing.review();
        return isStillWelcome(caller, deps.guard);
      },
      onEnd: () => {
        hearing.end();
        remove(stream);
      },
    });
    hearing.review();
    const stream = {
      agentKey,
      caller,
      events,
      held,
      beginning: createTurns(SUBSCRIBING),
      // Its own, since what begins may wait for what ends.
      ending: createTurns(SUBSCRIBING),
    };
    makeRoom(agentKey);
    streams.add(stream);
    return stream;
  }

  function remove(stream: Stream): void {
    streams.delete(stream);
    for (const [uri, { isAnswered }] of [...stream.held]) if (isAnswered) release(stream, uri);
  }

  async function subscribe(stream: Stream, uri: string): Promise<void> {
    const { caller, held, events } = stream;
    // Its client left while this one waited for its turn.
    if (events.isEnded) return;
    let read: RoutedRead;
    try {
      read = deps.reads.route(caller, 'resources/subscribe', { uri });
    } catch {
      // No such resource: then it is not acknowledged.
      return;
    }
    const key = sharedKey(caller, read);
    const one = shared.get(key) ?? { holders: 0, isTold: false };
    one.holders++;
    shared.set(key, one);
    const own = { read, isAnswered: false };
    // What arrives with the answer is heard already.
    held.set(uri, own);
    await leaving.get(key);
    const answer = await deps.reads.call(caller, null, read, quiet());
    own.isAnswered = true;
    if (answer.kind === 'result') one.isTold = true;
    if (answer.kind !== 'result' || events.isEnded) release(stream, uri);
  }

  /** The last one who listens tells the server. */
  function release({ caller, held, ending }: Stream, uri: string): void {
    const own = held.get(uri);
    if (own === undefined) return;
    held.delete(uri);
    const key = sharedKey(caller, own.read);
    const one = shared.get(key);
    if (one === undefined || --one.holders > 0) return;
    shared.delete(key);
    if (!one.isTold) return;
    const { serverId, args } = own.read;
    const back: RoutedRead = { method: 'resources/unsubscribe', serverId, args };
    const left = ending(() => deps.reads.call(caller, null, back, quiet())).finally(() => {
      if (leaving.get(key) === left) leaving.delete(key);
    });
    leaving.set(key, left);
  }

  function makeRoom(agentKey: string): void {
    const own = [...streams].filter((stream) => stream.agentKey === agentKey);
    if (own.length < deps.maxPerAgent) return;
    own[0]?.events.end();
  }

  return {
    open,

    /** Subscribes again at a server that has lost its session. */
    async renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
      const renewed = new Set<string>();
      for (const stream of [...streams]) {
        const { caller, held } = stream;
        const isHere = stream.agentKey === `${tenantId} ${agentId}` && caller.peer?.id === peerId;
        if (!isHere) continue;
        for (const { read } of [...held.values()]) {
          const key = sharedKey(caller, read);
          if (read.serverId !== serverId || renewed.has(key)) continue;
          renewed.add(key);
          await deps.reads.call(caller, null, read, quiet());
        }
      }
    },

    /** Ends all streams in order: the service stops. */
    close(): void {
      for (const { events } of [...streams]) events.end();
    },
  };
}

function readFilter(params: Record<string, unknown>): Filter {
  const parsed = Filter.safeParse(params.notifications);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['notifications', ...(issue?.path ?? [])].join('.');
  throw badParams(`${path}: ${issue?.message ?? 'malformed'}`);
}

function sharedKey({ tenantId, agent, peer }: Caller, { serverId, args }: RoutedRead): string {
  return JSON.stringify([tenantId, agent.id, peer?.id ?? null, serverId, args.uri]);
}

function quiet() {
  return {
    onNotification: () => undefined,
    wantsProgress: false,
    cancellation: new Cancellation(),
    takesEveryResult: true,
  };
}
