/**
 * What any worker answers for the whole machine: health, readiness and metrics. It asks the others
 * over their private sockets, where each answers only for itself.
 */
import type { IncomingMessage } from 'node:http';
import {
  AggregatorRegistry,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { z } from 'zod';
import type { Siblings } from './siblings.ts';

/** One process's report on itself. */
export interface OwnViews {
  health(): Record<string, unknown>;
  /** Why it is not ready, by name; empty when it is. */
  findUnready(): Promise<Record<string, string>>;
  /** What an operator has to look at although it works, by name. */
  findWarnings?(): Record<string, string>;
  registries: readonly Registry[];
}

/** What `/health`, `/ready` and `/metrics` answer. */
export interface Views {
  /** Whether a request needs no bearer token: what can send it can read the data folder too. */
  isPrivate(request: IncomingMessage): boolean;
  health(request: IncomingMessage): Promise<Record<string, unknown>>;
  ready(request: IncomingMessage): Promise<Readiness>;
  /** A text in Prometheus's format; to another worker, JSON. */
  metrics(request: IncomingMessage): Promise<{ type: string; text: string }>;
}

interface Readiness {
  isReady: boolean;
  body: Record<string, unknown>;
}

/** The views of a process that is on its own. */
export function ownViews(own: OwnViews): Views {
  return {
    isPrivate: () => false,
    health: async () => own.health(),
    ready: async () => readiness(await own.findUnready(), own.findWarnings?.() ?? {}),
    metrics: async () => ({
      type: Registry.PROMETHEUS_CONTENT_TYPE,
      text: await Registry.merge([...own.registries]).metrics(),
    }),
  };
}

/** The views of one of several workers. */
export function workerViews(
  own: OwnViews,
  at: {
    worker: number;
    siblings: Pick<Siblings, 'others' | 'ask'>;
    isPrivate: (request: IncomingMessage) => boolean;
  },
): Views {
  const { worker, siblings, isPrivate } = at;

  /** Every worker's answer, in order; null for one that gave none. */
  async function askAll<T>(path: string, shape: z.ZodType<T>, ownView: T) {
    const answers = await Promise.all(
      siblings.others.map(async (other) => ({
        worker: other,
        answer: shape.safeParse(await siblings.ask(other, path)).data ?? null,
      })),
    );
    return [{ worker, answer: ownView }, ...answers].sort((a, b) => a.worker - b.worker);
  }

  return {
    isPrivate,

    health: async (request) => {
      const ownView = own.health();
      if (isPrivate(request)) return ownView;
      return mergeHealth(
        ownView,
        await askAll('/health', HealthAnswer, HealthAnswer.parse(ownView)),
      );
    },

    ready: async (request) => {
      const ownView = readiness(await own.findUnready(), own.findWarnings?.() ?? {});
      if (isPrivate(request)) return ownView;
      return mergeReady(await askAll('/ready', ReadyAnswer, ReadyAnswer.parse(ownView.body)));
    },

    metrics: async (request) => {
      const ownView = await Registry.merge([...own.registries]).getMetricsAsJSON();
      if (isPrivate(request)) return { type: 'application/json', text: JSON.stringify(ownView) };
      const all = await askAll('/metrics', MetricsAnswer, MetricsAnswer.parse(ownView));
      return { type: Registry.PROMETHEUS_CONTENT_TYPE, text: await mergeMetrics(all) };
    },
  };
}

interface Answered<T> {
  worker: number;
  answer: T | null;
}

const HealthAnswer = z.looseObject({ status: z.string(), ledger: z.string() });
const Named = z.record(z.string(), z.string());
const ReadyAnswer = z.object({ status: z.string(), problems: Named, warnings: Named.optional() });
const MetricsAnswer = z.array(z.looseObject({ name: z.string(), values: z.array(z.unknown()) }));

const CONDITIONS = ['ok', 'warning', 'full', 'failed'];

/** What all share is shown once; ledger and tenants are each worker's own. */
function mergeHealth(
  ownView: Record<string, unknown>,
  all: Answered<z.infer<typeof HealthAnswer>>[],
): Record<string, unknown> {
  const { tenants: _tenants, unserved: _unserved, ledger_check: _check, ...common } = ownView;
  const isWell = all.every(({ answer }) => answer?.status === 'ok');
  const worst = Math.max(...all.map(({ answer }) => CONDITIONS.indexOf(answer?.ledger ?? 'ok')));
  return {
    ...common,
    status: isWell ? 'ok' : 'degraded',
    ledger: CONDITIONS[worst] ?? 'failed',
    workers: all.map(({ worker, answer }) => {
      if (answer === null) return { worker, state: 'down' };
      const { service: _service, version: _version, mode: _mode, ...rest } = answer;
      return { worker, state: 'up', ...rest };
    }),
  };
}

/**
 * Connections go to workers that listen: one that is not ready would get calls, one that is
 * restarting gets none.
 */
function mergeReady(all: Answered<z.infer<typeof ReadyAnswer>>[]): Readiness {
  const ofAll = (of: 'problems' | 'warnings') =>
    Object.fromEntries(
      all.flatMap(({ worker, answer }) =>
        Object.entries(answer?.[of] ?? {}).map(([name, what]) => [
          `worker ${worker}: ${name}`,
          what,
        ]),
      ),
    );
  const { isReady, body } = readiness(ofAll('problems'), ofAll('warnings'));
  const workers = all.map(({ worker, answer }) => ({ worker, status: answer?.status ?? 'down' }));
  return { isReady, body: { ...body, workers } };
}

function readiness(problems: Record<string, string>, warnings: Record<string, string>): Readiness {
  const isReady = Object.keys(problems).length === 0;
  const isWarned = Object.keys(warnings).length > 0;
  const status = isReady ? 'ready' : 'not_ready';
  return { isReady, body: { status, problems, ...(isWarned && { warnings }) } };
}

/** Every series by worker: nothing is summed up, so that one that hangs is visible. */
async function mergeMetrics(all: Answered<z.infer<typeof MetricsAnswer>>[]): Promise<string> {
  const labelled = all.map(({ worker, answer }) =>
    (answer ?? []).map((metric) => {
      // Written by this product's own version of the library, in this process or a sibling.
      const { values, ...rest } = metric as unknown as MetricObjectWithValues<MetricValue<string>>;
      const own = values.map((value) => ({ ...value, labels: { worker, ...value.labels } }));
      // With the worker among the labels, each sum has one term.
      return { ...rest, aggregator: 'sum', values: own };
    }),
  );
  const registry = AggregatorRegistry.aggregate(labelled);
  const up = all.filter(({ answer }) => answer !== null).length;
  const gauge = new Gauge({
    name: 'governance_workers',
    help: 'Workers of this machine: up when they answer within a second.',
    labelNames: ['state'],
    registers: [registry],
  });
  gauge.set({ state: 'up' }, up);
  gauge.set({ state: 'down' }, all.length - up);
  return registry.metrics();
}
