/**
 * Posts alerts to the operator's address. The alerts' own rows are the queue: an alert raised while
 * the receiver or this service was down is delivered later. Delivery is at least once; receivers
 * deduplicate by the alert's id. Proven by alert-webhook.pg.test.ts.
 */
import { once } from 'node:events';
import { Severity } from '@governance/shared/ledger/ledger-record';
import {
  describeOutboundFailure,
  type OutboundClient,
} from '@governance/shared/outbound/outbound-client';
import type { Secret } from '@governance/shared/settings';
import type { Logger } from 'pino';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
} from '../platform/database/tenant-scope.ts';
import { repeat, type Schedule } from '../platform/schedule.ts';
import { MAX_ATTEMPTS } from './delivery-status.ts';
import { claimAlerts, type DueAlert, markDelivered, markFailed } from './delivery-store.ts';
import { signatureHeaders } from './webhook-signature.ts';

export interface AlertWebhookDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  changes: ChangeBus;
  url: string;
  outbound: OutboundClient;
  secret: Secret;
  minSeverity: Severity;
  log: Pick<Logger, 'warn' | 'error'>;
  now: () => Date;
}

export interface AlertWebhook {
  /**
   * Delivers until the signal aborts, then finishes the deliveries in flight. One replica runs it;
   * if two do, each alert is claimed by one of them.
   */
  run(signal: AbortSignal): Promise<void>;
}

const TIMEOUT_MS = 10_000;
/** The pause between two reads of the queue for deliveries to retry. */
const RETRY_EVERY_MS = 5_000;
/**
 * Finds alerts that were never announced: a replica died between its commit and its notification.
 */
const LOOK_EVERYWHERE_MS = 2 * 60_000;

export function createAlertWebhook(deps: AlertWebhookDeps): AlertWebhook {
  const { db, log } = deps;
  const severities = severitiesFrom(deps.minSeverity);
  /** Tenants with alerts to deliver. */
  const due = new Set<string>();
  async function deliverDue(): Promise<void> {
    for (const tenantId of [...due]) {
      due.delete(tenantId);
      try {
        if (await deliverTenant(tenantId)) due.add(tenantId);
      } catch (error) {
        due.add(tenantId);
        throw error;
      }
    }
  }

  /** @returns whether a retry is pending */
  async function deliverTenant(tenantId: string): Promise<boolean> {
    const scope = systemScope(tenantId);
    for (;;) {
      const { alerts, waiting } = await db.inTenant(scope, (tx) => claimAlerts(tx, severities));
      if (alerts.length === 0) return waiting;
      const outcomes = await Promise.all(alerts.map((alert) => post(tenantId, alert)));
      const delivered = outcomes.filter(({ error }) => error === null).map(({ id }) => id);
      const failed = outcomes.flatMap(({ id, error }) => (error === null ? [] : [{ id, error }]));
      await db.inTenant(scope, async (tx) => {
        await markDelivered(tx, delivered);
        await markFailed(tx, failed);
      });
    }
  }

  async function post(
    tenantId: string,
    alert: DueAlert,
  ): Promise<{ id: string; error: string | null }> {
    const { id } = alert;
    const body = JSON.stringify({ tenant_id: tenantId, ...alert.view });
    try {
      const { status } = await deps.outbound.post({
        url: deps.url,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'agent-governance-service',
          'x-service-delivery': id,
          ...signatureHeaders({ id, body, at: deps.now() }, deps.secret),
        },
        timeoutMs: TIMEOUT_MS,
        maxBytes: null,
      });
      if (status >= 200 && status < 300) return { id, error: null };
      throw new Error(`the receiver answered ${status}`);
    } catch (error) {
      const isLast = alert.attempt >= MAX_ATTEMPTS;
      const about = { err: error, alert: alert.id, tenant: tenantId, attempt: alert.attempt };
      if (isLast) log.error(about, 'giving up posting an alert');
      else log.warn(about, 'an alert could not be posted; it will be retried');
      return { id, error: describeOutboundFailure(error) };
    }
  }

  async function lookEverywhere(wake: () => void): Promise<void> {
    const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
      tx.db.tenant.findMany({ select: { id: true } }),
    );
    for (const { id } of tenants) due.add(id);
    wake();
  }

  return {
    run: async (signal) => {
      const onError = (error: unknown) => log.error({ err: error }, 'alerts could not be posted');
      const deliveries = createCoalescedWork(deliverDue, onError);
      const wake = deliveries.request;
      const look = () => lookEverywhere(wake);
      const unsubscribe = deps.changes.subscribe(
        ({ tenantId, position }) => {
          // Every alert is committed with a ledger record, so a change without a position has none.
          if (position === undefined) return;
          due.add(tenantId);
          wake();
        },
        () => void look().catch(onError),
      );
      const schedules: Schedule[] = [
        repeat(LOOK_EVERYWHERE_MS, look, onError),
        repeat(RETRY_EVERY_MS, async () => wake(), onError),
        deliveries,
      ];
      if (!signal.aborted) await once(signal, 'abort');
      unsubscribe();
      await Promise.all(schedules.map((schedule) => schedule.stop()));
    },
  };
}

function severitiesFrom(least: Severity): Severity[] {
  return Severity.options.slice(Severity.options.indexOf(least));
}

/** Coalesces requests that come close together into one run. */
const GATHER_MS = 200;

function createCoalescedWork(work: () => Promise<void>, onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  return {
    request: (): void => {
      if (timer || isStopped) return;
      timer = setTimeout(() => {
        running = running.then(() => {
          timer = undefined;
          return work().catch(onError);
        });
      }, GATHER_MS);
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
