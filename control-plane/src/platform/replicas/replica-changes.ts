/**
 * Joins the change buses of all replicas by LISTEN and NOTIFY of the database they share.
 *
 * A change is delivered here at once, and to the other replicas shortly after the commit, together
 * with others. NOTIFY never runs inside the transaction of the change: it holds a server-wide lock
 * until the commit, and ingest commits all the time. A process that dies between its commit and its
 * NOTIFY announces nothing, so every cache also checks by itself (long polls at their end, the
 * bundle source every ten seconds, audit streams at each keep-alive). While the session is lost,
 * changes wait here; once it is back, all listeners of this process learn that they may have missed
 * something. Proven by replica-changes.pg.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type pg from 'pg';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { z } from 'zod';
import { type ChangeBus, createChangeBus, type TenantChange } from '../database/change-bus.ts';
import type { Connections } from '../database/database.ts';
import { type StandingSession, startStandingSession } from './standing-session.ts';

export interface ReplicaChanges extends ChangeBus {
  /**
   * Begins to listen; resolves when it listens, or when the first try failed (it keeps trying).
   */
  start(): Promise<void>;
  /** Sends what is waiting, if the database is reachable, and ends. */
  stop(): Promise<void>;
}

export interface ReplicaChangesDeps {
  connections: Pick<Connections, 'openSession'>;
  onListenerError: (error: unknown) => void;
  log: Pick<Logger, 'warn'>;
  registry: Registry;
}

const CHANNEL = 'governance_changes';
/** The least time between two notifications. */
const GATHER_MS = 50;
/** The pause after a refused NOTIFY (the server's queue of notifications is full). */
const RETRY_MS = 1_000;
/** A payload holds less than 8,000 bytes; a change is at most 90. */
const CHANGES_A_PAYLOAD = 50;
/** With changes of more tenants than this, one message says that any tenant may have changed. */
const MAX_WAITING = 10_000;

const Message = z.object({
  /** Identifies the sender, which also receives its own notifications. */
  from: z.string(),
  /** [tenant, feed_seq, position, tokens revoked]; `null`: any tenant may have changed. */
  changes: z
    .array(z.tuple([z.string(), z.int().nullable(), z.int().nullable(), z.boolean()]))
    .max(CHANGES_A_PAYLOAD)
    .nullable(),
});

export function createReplicaChanges(deps: ReplicaChangesDeps): ReplicaChanges {
  const { connections, log } = deps;
  const metrics = createMetrics(deps.registry);
  const local = createChangeBus(deps.onListenerError);
  const own = randomUUID();
  const outbox = createOutbox();
  let standing: StandingSession | undefined;
  let session: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let notBefore = 0;

  function schedule(): void {
    if (!session || timer || sending || outbox.isEmpty()) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        send();
      },
      Math.max(0, notBefore - performance.now()),
    );
  }

  function send(): void {
    if (!session || sending) return;
    const taken = outbox.take();
    const payloads = toPayloads(own, taken);
    notBefore = performance.now() + GATHER_MS;
    sending = session
      .query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
        CHANNEL,
        payloads,
      ])
      .then(
        () => void metrics.changes.inc({ direction: 'sent' }, taken?.length ?? 1),
        (error: unknown) => {
          outbox.putBack(taken);
          notBefore = performance.now() + RETRY_MS;
          log.warn(
            { err: error },
            'the other replicas could not be notified of a change; it waits',
          );
        },
      )
      .finally(() => {
        sending = undefined;
        schedule();
      });
  }

  function receive({ channel, payload }: pg.Notification): void {
    if (channel !== CHANNEL) return;
    const message = parse(payload);
    // An unreadable message comes from no replica. It counts as missed changes: a check costs
    // little, and needs no trust.
    if (message?.from === own) return;
    metrics.changes.inc({ direction: 'heard' }, message?.changes?.length ?? 1);
    if (!message?.changes) local.announceMissed();
    for (const [tenantId, feedSeq, position, tokensRevoked] of message?.changes ?? []) {
      local.publish({
        tenantId,
        ...(feedSeq === null ? {} : { feedSeq }),
        ...(position === null ? {} : { position }),
        ...(tokensRevoked ? { tokensRevoked } : {}),
      });
    }
  }

  async function listen(client: pg.Client, signal: AbortSignal): Promise<void> {
    client.on('notification', receive);
    await client.query(`LISTEN ${CHANNEL}`);
    session = client;
    metrics.up.set(1);
    metrics.sessions.inc();
    notBefore = 0;
    // From here on every notification is received; listeners must check for what came before.
    local.announceMissed();
    schedule();
    try {
      if (!signal.aborted) await once(signal, 'abort');
      await sending;
      clearTimeout(timer);
      timer = undefined;
      // The session is still open at a stop: send what is left.
      if (!outbox.isEmpty()) send();
      await sending;
    } finally {
      session = undefined;
      clearTimeout(timer);
      timer = undefined;
      metrics.up.set(0);
    }
  }

  return {
    publish: (change) => {
      local.publish(change);
      // Before `start` and after `stop` there is no session; changes wait, at most those of
      // MAX_WAITING tenants.
      outbox.add(change);
      schedule();
    },
    subscribe: local.subscribe,
    start: () =>
      new Promise((resolve) => {
        standing ??= startStandingSession({
          open: () => connections.openSession('governance_changes'),
          use: async (client, signal) => {
            const listening = listen(client, signal);
            // Statements run in order, and LISTEN is the first: once this one answers, the session
            // listens.
            await Promise.race([client.query('SELECT 1'), listening]);
            resolve();
            await listening;
          },
          onLost: (error) => {
            log.warn(
              { err: error },
              'the changes of other replicas are not received: reconnecting',
            );
            resolve();
          },
        });
      }),
    stop: async () => {
      await standing?.stop();
    },
  };
}

function parse(payload: string | undefined): z.infer<typeof Message> | undefined {
  try {
    return Message.parse(JSON.parse(payload ?? ''));
  } catch {
    return undefined;
  }
}

function toPayloads(from: string, changes: TenantChange[] | null): string[] {
  if (changes === null) return [JSON.stringify({ from, changes })];
  const payloads: string[] = [];
  for (let i = 0; i < changes.length; i += CHANGES_A_PAYLOAD) {
    const some = changes
      .slice(i, i + CHANGES_A_PAYLOAD)
      .map(({ tenantId, feedSeq = null, position = null, tokensRevoked = false }) => [
        tenantId,
        feedSeq,
        position,
        tokensRevoked,
      ]);
    payloads.push(JSON.stringify({ from, changes: some }));
  }
  return payloads;
}

/** The changes to send: the newest numbers of each tenant. */
function createOutbox() {
  let waiting = new Map<string, TenantChange>();
  let isEverything = false;

  function add(change: TenantChange): void {
    if (isEverything) return;
    const known = waiting.get(change.tenantId);
    const merged: TenantChange = { tenantId: change.tenantId };
    for (const name of ['feedSeq', 'position'] as const) {
      const newest = Math.max(known?.[name] ?? -1, change[name] ?? -1);
      if (newest >= 0) merged[name] = newest;
    }
    if (known?.tokensRevoked || change.tokensRevoked) merged.tokensRevoked = true;
    waiting.set(change.tenantId, merged);
    if (waiting.size > MAX_WAITING) addEverything();
  }
  function addEverything(): void {
    isEverything = true;
    waiting.clear();
  }

  return {
    add,
    isEmpty: () => waiting.size === 0 && !isEverything,
    /** @returns null for everything */
    take: (): TenantChange[] | null => {
      const taken = isEverything ? null : [...waiting.values()];
      waiting = new Map();
      isEverything = false;
      return taken;
    },
    putBack: (changes: TenantChange[] | null): void => {
      if (changes === null) addEverything();
      else changes.forEach(add);
    },
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    up: new Gauge({
      name: 'governance_replica_listener_up',
      help: '1 while changes made by other replicas are received',
      registers,
    }),
    sessions: new Counter({
      name: 'governance_replica_listener_sessions_total',
      help: 'Sessions opened to listen to other replicas: one, and one more for each that was lost',
      registers,
    }),
    changes: new Counter({
      name: 'governance_replica_changes_total',
      help: 'Changes sent to other replicas, and received from them',
      labelNames: ['direction'],
      registers,
    }),
  };
}
