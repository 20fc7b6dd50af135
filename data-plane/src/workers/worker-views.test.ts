import type { IncomingMessage } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { type Views, workerViews } from './worker-views.ts';

const OUTSIDE = {} as IncomingMessage;
const INSIDE = {} as IncomingMessage;

interface Peer {
  views: Views;
  problems: Record<string, string>;
  health: Record<string, unknown>;
  registry: Registry;
  isAway: boolean;
}

let peers: Peer[];

/** Workers whose questions to each other are answered through JSON, as over a socket. */
beforeEach(() => {
  peers = [1, 2, 3].map((worker): Peer => {
    const peer: Peer = {
      problems: {},
      health: { status: 'ok', mode: 'data-plane', ledger: 'ok', tenants: [{ id: worker }] },
      registry: new Registry(),
      isAway: false,
      views: undefined as unknown as Views,
    };
    peer.views = workerViews(
      {
        health: () => peer.health,
        findUnready: async () => peer.problems,
        registries: [peer.registry],
      },
      {
        worker,
        siblings: {
          others: [1, 2, 3].filter((other) => other !== worker),
          ask: async (other, path) => askPeer(other, path),
        },
        isPrivate: (request) => request === INSIDE,
      },
    );
    return peer;
  });
});

const peer = (worker: number) => peers[worker - 1] as Peer;

async function askPeer(worker: number, path: string): Promise<unknown> {
  const { views, isAway } = peer(worker);
  if (isAway) return null;
  if (path === '/metrics') return JSON.parse((await views.metrics(INSIDE)).text);
  const body = path === '/health' ? await views.health(INSIDE) : (await views.ready(INSIDE)).body;
  return JSON.parse(JSON.stringify(body));
}

it('reports the worst health, and the state of each worker', async () => {
  expect(await peer(2).views.health(OUTSIDE)).toEqual({
    status: 'ok',
    mode: 'data-plane',
    ledger: 'ok',
    workers: [1, 2, 3].map((worker) => ({
      worker,
      state: 'up',
      status: 'ok',
      ledger: 'ok',
      tenants: [{ id: worker }],
    })),
  });
  expect(await peer(2).views.health(INSIDE)).toBe(peer(2).health);
  peer(3).health = { ...peer(3).health, status: 'degraded', ledger: 'warning' };
  expect(await peer(1).views.health(OUTSIDE)).toMatchObject({
    status: 'degraded',
    ledger: 'warning',
    workers: [{ status: 'ok' }, { status: 'ok' }, { status: 'degraded' }],
  });
  peer(3).isAway = true;
  expect(await peer(1).views.health(OUTSIDE)).toMatchObject({
    status: 'degraded',
    ledger: 'ok',
    workers: [{ state: 'up' }, { state: 'up' }, { worker: 3, state: 'down' }],
  });
});

it('is ready when every worker that gets connections is', async () => {
  peer(3).isAway = true;
  expect(await peer(1).views.ready(OUTSIDE)).toEqual({
    isReady: true,
    body: {
      status: 'ready',
      problems: {},
      workers: [
        { worker: 1, status: 'ready' },
        { worker: 2, status: 'ready' },
        { worker: 3, status: 'down' },
      ],
    },
  });
  peer(2).problems = { ledger: 'full' };
  expect(await peer(1).views.ready(OUTSIDE)).toMatchObject({
    isReady: false,
    body: { status: 'not_ready', problems: { 'worker 2: ledger': 'full' } },
  });
  expect((await peer(1).views.ready(INSIDE)).isReady).toBe(true);
});

it('shows every series of every worker, and how many answer', async () => {
  for (const [index, { registry }] of peers.entries()) {
    const registers = [registry];
    const calls = new Counter({
      name: 'calls_total',
      help: 'c',
      labelNames: ['verdict'],
      registers,
    });
    calls.inc({ verdict: 'allow' }, index + 1);
    new Gauge({ name: 'sessions', help: 'g', registers }).set(index);
    new Histogram({ name: 'took', help: 'h', buckets: [1, 2], registers }).observe(1.5);
    collectDefaultMetrics({ register: registry });
  }
  peer(3).isAway = true;
  const { type, text } = await peer(1).views.metrics(OUTSIDE);
  expect(type).toBe(Registry.PROMETHEUS_CONTENT_TYPE);
  const lines = text.split('\n');
  for (const line of [
    'calls_total{worker="1",verdict="allow"} 1',
    'calls_total{worker="2",verdict="allow"} 2',
    'sessions{worker="1"} 0',
    'sessions{worker="2"} 1',
    'took_bucket{worker="2",le="1"} 0',
    'took_bucket{worker="2",le="+Inf"} 1',
    'took_count{worker="1"} 1',
    'governance_workers{state="up"} 2',
    'governance_workers{state="down"} 1',
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.filter((line) => line === '# TYPE took histogram')).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('process_start_time_seconds{'))).toHaveLength(2);
  expect(text).not.toContain('worker="3"');
  for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
    expect(line).toMatch(/worker="[12]"|^governance_workers/);
  }
});
