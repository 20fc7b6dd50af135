/** A separate service process, and what it reads over HTTP. */
import { adminApi } from '../../tests/support/admin-api.ts';
import { startService } from '../../tests/support/service-process.ts';
import { REACH_SHAPES } from './call-shapes.ts';
import type { DelayedService } from './delays.ts';
import type { Reader } from './growth.ts';
import { JSON_SHAPES, LINE_SHAPES, type Shape, TEXT_SHAPES, TOKEN_SHAPES } from './shapes.ts';
import { readMainThread } from './thread-account.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** This many small requests are measured together. */
const REQUESTS = 10;

const ARGUMENTS = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":',
  '}}}',
];

/** A call whose arguments a shape gives as a whole. */
const DELETE = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_file","arguments":',
  '}}',
];

const within = (shapes: readonly Shape[], [before = '', after = '']: readonly string[]): Shape[] =>
  shapes.map(({ name, make }) => ({
    name,
    make: (size) => Buffer.concat([Buffer.from(before), make(size), Buffer.from(after)]),
  }));

export async function startHostileService() {
  const service = await startService({
    readyTimeoutMs: 180_000,
    // A call that escalates waits for a person, and nobody is there.
    env: { SERVICE_HOLD_WAIT_SECONDS: '1' },
  });
  try {
    return { ...(await readersOf(service)), stop: service.dispose };
  } catch (error) {
    await service.dispose();
    throw error;
  }
}

async function readersOf({ url, adminPassword, child }: Awaited<ReturnType<typeof startService>>) {
  const admin = await adminApi(url, 'admin', adminPassword);
  // Nobody listens there: a call is read, judged and recorded, and then fails.
  const server = { server_id: 'up', transport: 'streamable-http', url: 'http://127.0.0.1:9/mcp' };
  await admin.post('/api/v1/mcp-servers', server);
  await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
  // Long lists would escalate.
  await admin.patch('/api/v1/admin/blast-radius', { bulk_action_threshold: 1_000_000 });
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    name: 'all',
    permissions: ['*:*'],
  });
  const addAgent = async (name: string) => {
    const agent = await admin.post<{ id: string; client_id: string; client_secret: string }>(
      '/api/v1/agents',
      { name, agent_type: 'bench', owner: 'bench@example.com' },
    );
    await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
    const secret = `${agent.client_id}:${agent.client_secret}`;
    return `Basic ${Buffer.from(secret).toString('base64')}`;
  };
  const basic = await addAgent('hostile');
  const json = { 'content-type': 'application/json' };
  const mcp = { ...json, accept: 'application/json, text/event-stream', authorization: basic };

  const post = async (path: string, headers: Record<string, string>, body?: Buffer) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: body ?? null });
    await answer.arrayBuffer();
    if (answer.status === 500) throw new HostileServerError(path);
    return answer.status;
  };
  const repeat = async (work: () => Promise<unknown>) => {
    for (let i = 0; i < REQUESTS; i++) await work();
  };
  const pid = child.pid ?? 0;
  const cpuMs = () => readMainThread(pid).cpuMs;

  const readers: Reader[] = [
    {
      name: 'gateway: a body',
      shapes: JSON_SHAPES,
      sizes: [MIB / 2, MIB, 2 * MIB, 4 * MIB - KIB],
      read: (bytes) => post('/mcp/v1/up', mcp, bytes),
      cpuMs,
    },
    {
      name: 'gateway: arguments',
      shapes: within(JSON_SHAPES, ARGUMENTS),
      sizes: [MIB / 8, MIB / 4, MIB / 2, MIB - KIB],
      read: (bytes) => post('/mcp/v1/up', mcp, bytes),
      cpuMs,
    },
    {
      name: 'gateway: arguments of a delete',
      shapes: within(REACH_SHAPES, DELETE),
      sizes: [MIB / 8, MIB / 4, MIB / 2, MIB - KIB],
      read: (bytes) => post('/mcp/v1/up', mcp, bytes),
      cpuMs,
    },
    {
      name: 'gateway: a bearer token',
      shapes: TOKEN_SHAPES,
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 15 * KIB],
      read: (bytes) =>
        repeat(() => post('/mcp/v1/up', { ...mcp, authorization: `Bearer ${bytes}` })),
      cpuMs,
    },
    {
      name: 'gateway: Basic credentials',
      shapes: TOKEN_SHAPES,
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 15 * KIB],
      read: (bytes) =>
        repeat(() => post('/mcp/v1/up', { ...mcp, authorization: `Basic ${bytes}` })),
      cpuMs,
    },
    {
      name: 'API: a body',
      shapes: JSON_SHAPES,
      sizes: [MIB / 8, MIB / 4, MIB / 2, MIB - KIB],
      read: (bytes) =>
        post('/api/v1/roles', { ...json, authorization: `Bearer ${admin.token}` }, bytes),
      cpuMs,
    },
    {
      name: 'API: an administrator’s token',
      shapes: TOKEN_SHAPES,
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 15 * KIB],
      read: (bytes) => repeat(() => post('/api/v1/roles', { authorization: `Bearer ${bytes}` })),
      cpuMs,
    },
    {
      name: 'token route: a body',
      shapes: JSON_SHAPES,
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB],
      read: (bytes) => repeat(() => post('/api/v1/auth/token', json, bytes)),
      cpuMs,
    },
    {
      name: 'token route: a form',
      shapes: within([...LINE_SHAPES, ...TEXT_SHAPES], ['grant_type=', '']),
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB],
      read: (bytes) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        return repeat(() => post('/api/v1/auth/token', headers, bytes));
      },
      cpuMs,
    },
    {
      name: 'token route: Basic credentials',
      shapes: TOKEN_SHAPES,
      sizes: [2 * KIB, 4 * KIB, 8 * KIB, 15 * KIB],
      read: (bytes) => {
        const body = Buffer.from('{"grant_type":"client_credentials"}');
        const headers = { ...json, authorization: `Basic ${bytes}` };
        return repeat(() => post('/api/v1/auth/token', headers, body));
      },
      cpuMs,
    },
  ];

  const delayed: DelayedService = {
    pid,
    probe: { url: `${url}/mcp/v1`, authorization: await addAgent('harmless') },
    readLoopStopMs: async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const found = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics);
      if (found === null) throw new Error('the service has no metric of its event loop');
      return Number(found[1]) * 1000;
    },
  };
  const delaying = new Set([
    'gateway: a body',
    'gateway: arguments',
    'gateway: arguments of a delete',
    'API: a body',
  ]);
  return { ...delayed, readers, isDelaying: ({ name }: Reader) => delaying.has(name) };
}

/** A 500 is the reader's fault, whatever the input. */
class HostileServerError extends Error {
  constructor(path: string) {
    super(`${path} answered 500`);
    console.error(this.message);
    process.exitCode = 1;
  }
}
