/**
 * `subscriptions/listen` (MCP 2026-07-28, subscriptions): one stream of the changes that a client
 * asked for, for as long as it holds the connection. Each resource is subscribed to by a judged
 * read, whatever era its server speaks; what is denied is missing from the acknowledgement.
 */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { SessionPlace, UpstreamPool } from '../../upstream/pool.ts';
import { Cancellation, type UpstreamNotification } from '../../upstream/upstream.ts';
import { badParams } from '../call-routing.ts';
import type { Caller } from '../caller.ts';
import type { Announce } from '../capabilities.ts';
import { eventText, KEEP_ALIVE, streamHeaders } from '../event-stream.ts';
import type { Guard } from '../guard.ts';
import { isObject, notificationText, type RpcId, resultText } from '../json-rpc.ts';
import type { ReadService, RoutedRead } from '../read-service.ts';
import { unifiedNotification } from '../unified.ts';
import type { ModernRequest } from './envelope.ts';

export interface ListenDeps {
  guard: Pick<Guard, 'findBar' | 'identify'>;
  reads: ReadService;
  announce: Announce;
  pool: Pick<UpstreamPool, 'listen'>;
  messageBytes: number;
  keepAliveMs: number;
  /** Streams of one agent; a further one ends the oldest. */
  maxPerAgent: number;
}

export type Listen = ReturnType<typeof createListen>;

const MAX_URIS = 1000;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

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

interface Stream {
  agentKey: string;
  caller: Caller;
  /** What was subscribed to, by what the client calls it. */
  routed: Map<string, RoutedRead>;
  /** Ends it with a result, which says that it ended in order. */
  end(): void;
}

/** Builds it. */
export function createListen(deps: ListenDeps) {
  /** The oldest first. */
  const streams = new Set<Stream>();
  /** How many streams hold a subscription that the sessions with servers share. */
  const holders = new Map<string, number>();

  async function open(caller: Caller, request: ModernRequest, reply: FastifyReply): Promise<void> {
    const wanted = readFilter(request.params);
    const { capabilities } = await deps.announce(caller);
    const can = (name: string, what: string) => {
      const capability = capabilities[name];
      return isObject(capability) && capability[what] === true;
    };
    const changes = (Object.keys(CHANGES) as Change[]).filter(
      (name) => wanted[name] === true && can(CHANGES[name].capability, 'listChanged'),
    );
    const methods = new Set<string>(changes.map((name) => CHANGES[name].method));
    const uris = can('resources', 'subscribe') ? [...new Set(wanted.resourceSubscriptions)] : [];
    const agentKey = `${caller.tenantId} ${caller.agent.id}`;
    makeRoom(agentKey);

    const { raw } = reply;
    let isOpen = false;
    const early: string[] = [];
    const write = (text: string) => {
      if (!isOpen) early.push(text);
      else if (!raw.writableEnded && raw.writableLength < deps.messageBytes)
        raw.write(eventText(text));
    };
    const routed = new Map<string, RoutedRead>();
    const hear = (from: string, notification: UpstreamNotification) => {
      const named =
        caller.serverId === null ? unifiedNotification(from, notification) : notification;
      const { method, params } = named;
      const isUpdate = method === 'notifications/resources/updated';
      if (isUpdate ? !routed.has(String(params?.uri)) : !methods.has(method)) return;
      if (!isStillWelcome(caller)) raw.end();
      else write(tagged(method, params, request.id));
    };
    // Before the subscriptions: the first update may come with the answer to one.
    const stop = deps.pool.listen(
      caller.tenantId,
      caller.agent.id,
      caller.serverId,
      hear,
      caller.peer?.id,
    );
    const stream: Stream = {
      agentKey,
      caller,
      routed,
      end: () => {
        if (raw.writableEnded || raw.destroyed) return;
        const _meta = { [SUBSCRIPTION]: request.id };
        const result = JSON.stringify({ resultType: 'complete', _meta });
        raw.end(eventText(resultText(request.id, result)));
      },
    };
    streams.add(stream);
    let isGone = raw.destroyed;
    raw.once('close', () => {
      isGone = true;
      stop();
      streams.delete(stream);
      for (const uri of [...routed.keys()]) void release(stream, uri);
    });
    await Promise.all(uris.map((uri) => subscribe(stream, uri, () => isGone)));
    if (isGone) return;

    reply.hijack();
    raw.on('error', () => undefined);
    raw.writeHead(200, streamHeaders(reply));
    const honoured: Filter = Object.fromEntries(changes.map((name) => [name, true]));
    if (routed.size > 0) honoured.resourceSubscriptions = [...routed.keys()];
    const method = 'notifications/subscriptions/acknowledged';
    raw.write(eventText(tagged(method, { notifications: honoured }, request.id)));
    isOpen = true;
    for (const text of early.splice(0)) write(text);
    const timer = setInterval(() => {
      if (!isStillWelcome(caller)) raw.end();
      else if (raw.writableLength < deps.messageBytes) raw.write(KEEP_ALIVE);
    }, deps.keepAliveMs);
    raw.once('close', () => clearInterval(timer));
  }

  async function subscribe(stream: Stream, uri: string, isGone: () => boolean): Promise<void> {
    let read: RoutedRead;
    try {
      read = deps.reads.route(stream.caller, 'resources/subscribe', { uri });
    } catch {
      // No such resource: then it is not acknowledged.
      return;
    }
    const key = holderKey(stream.caller, read);
    holders.set(key, (holders.get(key) ?? 0) + 1);
    // What arrives with the answer is heard already.
    stream.routed.set(uri, read);
    const answer = await deps.reads.call(stream.caller, null, read, quiet());
    if (answer.kind !== 'result') {
      stream.routed.delete(uri);
      drop(key);
    } else if (isGone()) await release(stream, uri);
  }

  /** The last one who listens tells the server. */
  async function release(stream: Stream, uri: string): Promise<void> {
    const read = stream.routed.get(uri);
    if (read === undefined) return;
    stream.routed.delete(uri);
    if (drop(holderKey(stream.caller, read)) > 0) return;
    const { serverId, args } = read;
    const back: RoutedRead = { method: 'resources/unsubscribe', serverId, args };
    await deps.reads.call(stream.caller, null, back, quiet());
  }

  function drop(key: string): number {
    const left = (holders.get(key) ?? 1) - 1;
    if (left > 0) holders.set(key, left);
    else holders.delete(key);
    return left;
  }

  function makeRoom(agentKey: string): void {
    const own = [...streams].filter((stream) => stream.agentKey === agentKey);
    if (own.length >= deps.maxPerAgent) own[0]?.end();
  }

  function isStillWelcome({ credential, serverId }: Caller): boolean {
    const identity = deps.guard.identify(credential, serverId);
    // At once, since the replica had caught up with the token when the stream began.
    if (identity instanceof Promise || 'kind' in identity || identity.bar) return false;
    return deps.guard.findBar(identity.tenantId, identity.agent) === undefined;
  }

  return {
    open,

    /** Subscribes again at a server that has lost its session. */
    async renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
      const renewed = new Set<string>();
      for (const stream of [...streams]) {
        const { caller, routed } = stream;
        const isHere = stream.agentKey === `${tenantId} ${agentId}` && caller.peer?.id === peerId;
        if (!isHere) continue;
        for (const read of routed.values()) {
          const key = holderKey(caller, read);
          if (read.serverId !== serverId || renewed.has(key)) continue;
          renewed.add(key);
          await deps.reads.call(caller, null, read, quiet());
        }
      }
    },

    /** Ends all streams in order: the service stops. */
    close(): void {
      for (const stream of [...streams]) stream.end();
    },

    count: () => streams.size,
  };
}

function readFilter(params: Record<string, unknown>): Filter {
  const parsed = Filter.safeParse(params.notifications);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['notifications', ...(issue?.path ?? [])].join('.');
  throw badParams(`${path}: ${issue?.message ?? 'malformed'}`);
}

function tagged(method: string, params: Record<string, unknown> | undefined, id: RpcId): string {
  const meta = isObject(params?._meta) ? params._meta : {};
  return notificationText(method, { ...params, _meta: { ...meta, [SUBSCRIPTION]: id } });
}

function holderKey({ tenantId, agent, peer }: Caller, { serverId, args }: RoutedRead): string {
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
