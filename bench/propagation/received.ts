/** How long a change takes until a thousand data planes have received it, and what it costs. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { type Child, startChild } from './child.ts';
import { type BenchControlPlane, type Counters, difference } from './control-plane.ts';
import { clockMs, type Spread, spread, tenth } from './figures.ts';
import type { ExpectedChange, ReadersOptions, Received } from './readers.ts';

export interface ReceivedOptions {
  build: string;
  readers: number;
  processes: number;
  trials: number;
  /** How long the idle control plane is observed. */
  idleSeconds: number;
}

/** The number of readers before the others join: a change must cost the same with either number. */
const FEW = 10;

interface Times {
  /** Each reader, over all trials. */
  reader: Spread;
  /** The last reader of each trial. */
  last: Spread;
}

export interface ReceivedRow {
  readers: number;
  change: string;
  /** From the administrator's request until the page with the change arrived. */
  feed: Times;
  /** The same until the new bundle arrived. */
  bundle: Times | null;
  request: Spread;
  /** What one change cost, including the readers' other requests meanwhile. */
  cost: Counters;
  /** How long the counters of a trial ran, in seconds: this much idle polling is included. */
  seconds: number;
}

export interface IdleRow {
  readers: number;
  residentMiB: number;
  /** A second. */
  rates: Counters;
}

export async function measureReceived(
  plane: BenchControlPlane,
  options: ReceivedOptions,
): Promise<{ rows: ReceivedRow[]; idle: IdleRow[] }> {
  const { service, admin } = plane;
  const agent = await admin.post<{ id: string }>('/api/v1/agents', {
    name: 'changed',
    agent_type: 'test',
    owner: 'bench',
    description: '',
  });
  await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
  await admin.post('/api/v1/mcp-servers', {
    server_id: 'changed',
    transport: 'streamable-http',
    url: 'http://127.0.0.1:9/0',
  });
  const children = Array.from({ length: options.processes }, () => ({
    child: startChild(join(options.build, 'readers.js')),
    root: '',
  }));
  const rows: ReceivedRow[] = [];
  const idle: IdleRow[] = [];
  let count = 0;

  const addReaders = async (total: number) => {
    const each = Math.floor((total - count) / children.length);
    await Promise.all(
      children.map(async ({ child, root }, i) => {
        const more = i === 0 ? total - count - each * (children.length - 1) : each;
        const add: ReadersOptions = { cpUrl: service.url, token: root, count: more };
        await child.ask('add', add);
      }),
    );
    count = total;
    process.stderr.write(`${count} readers\n`);
  };
  const watchIdle = async () => {
    await sleep(2_000);
    const before = await plane.counters();
    const began = clockMs();
    await sleep(options.idleSeconds * 1_000);
    const after = await plane.counters();
    const rates = difference(before, after, (clockMs() - began) / 1_000);
    idle.push({ readers: count, residentMiB: plane.residentMiB(), rates });
  };
  const measureAll = async () => {
    for (const change of changesOf(admin, agent.id)) {
      rows.push(
        await measure(
          plane,
          children.map(({ child }) => child),
          change,
          count,
          options,
        ),
      );
    }
  };

  try {
    for (const each of children) {
      // Each has its own root: registrations are limited per root and minute.
      const label = 'bench readers';
      each.root = (
        await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', { label })
      ).token;
    }
    await addReaders(Math.min(FEW, options.readers));
    await watchIdle();
    await measureAll();
    if (count < options.readers) {
      await addReaders(options.readers);
      await watchIdle();
      await measureAll();
    }
    return { rows, idle };
  } finally {
    await Promise.all(children.map(({ child }) => child.end()));
  }
}

interface Change {
  name: string;
  /** Sends the request. */
  make(): Promise<unknown>;
  /** What the next change must bring; `revision` is the bundle's before it. */
  expected(revision: number): ExpectedChange;
}

function changesOf(admin: AdminApi, agentId: string): Change[] {
  let status = 'active';
  const other = () => (status === 'active' ? 'suspended' : 'active');
  return [
    {
      name: 'agent suspended, or active again',
      expected: () => ({ kind: 'agent', agentId, status: other() }),
      make: () => {
        status = other();
        return admin.patch(`/api/v1/agents/${agentId}`, { status });
      },
    },
    {
      name: 'MCP server: url changed',
      expected: (revision) => ({ kind: 'bundle', after: revision }),
      make: () => {
        const url = `http://127.0.0.1:9/${Math.random()}`;
        return admin.patch('/api/v1/mcp-servers/changed', { url });
      },
    },
  ];
}

async function measure(
  plane: BenchControlPlane,
  children: Child[],
  change: Change,
  readers: number,
  { trials }: ReceivedOptions,
): Promise<ReceivedRow> {
  const feed = { all: [] as number[], last: [] as number[] };
  const bundle = { all: [] as number[], last: [] as number[] };
  const requests: number[] = [];
  const before = await plane.counters();
  const began = clockMs();
  for (let trial = 0; trial < trials; trial++) {
    const revisions = await Promise.all(children.map((child) => child.ask<number>('revision')));
    const expected = change.expected(Math.max(...revisions));
    await Promise.all(children.map((child) => child.ask('arm', expected)));
    const sent = clockMs();
    await change.make();
    requests.push(clockMs() - sent);
    const received = await Promise.all(children.map((child) => child.ask<Received>('received')));
    const failures = received.flatMap((each) => each.failures);
    if (failures.length > 0) throw new Error(`a reader failed: ${failures[0]}`);
    for (const [set, name] of [
      [feed, 'feed'],
      [bundle, 'bundle'],
    ] as const) {
      const times = received.flatMap((each) => each[name]).map((at) => timeOf(at, sent));
      if (times.length === 0) continue;
      set.all.push(...times);
      set.last.push(times.reduce((most, time) => Math.max(most, time)));
    }
    // All of them poll again before the next change.
    await sleep(300 + Math.random() * 200);
  }
  const seconds = (clockMs() - began) / 1_000;
  const after = await plane.counters();
  return {
    readers,
    change: change.name,
    feed: { reader: spread(feed.all), last: spread(feed.last) },
    bundle: bundle.all.length ? { reader: spread(bundle.all), last: spread(bundle.last) } : null,
    request: spread(requests),
    cost: difference(before, after, trials),
    seconds: tenth(seconds / trials),
  };
}

function timeOf(at: number | null, sent: number): number {
  if (at === null) throw new Error('a change did not reach every reader');
  return at - sent;
}
