/**
 * Settings of content protection, from an administrator's PATCH at a control plane to what a real
 * MCP client gets at a connected data plane, and what the audit event says: each bound of the blast
 * radius, and each action of DLP in both directions.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDataPlane } from '@governance/data-plane/main';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '@governance/data-plane/testing/test-upstream';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { listeningUrl } from '@governance/shared/http/http-server';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  issueDataPlaneToken,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { freePort } from './support/service-process.ts';
import { ADMIN_PASSWORD, testControlPlane } from './support/test-control-plane.ts';

/** A finding of each severity by a built-in pattern, and what of it is sensitive. */
const FOUND = {
  critical: found('aws_access_key_id', 'the key is AKIAQ3EGKH7W2MJX5PLN', 'AKIAQ3EGKH7W2MJX5PLN'),
  high: found('secret_assignment', 'password = "hT7kq9Lw2xVd"', 'hT7kq9Lw2xVd'),
  medium: found('date_of_birth', 'date of birth: 1984-03-12', '1984-03-12'),
  low: found(
    'email_address',
    'ask anna.berger@lindenhof-praxis.de',
    'anna.berger@lindenhof-praxis.de',
  ),
};
type Severity = keyof typeof FOUND;

const { app, test } = await testControlPlane();
const dataDir = mkdtempSync(join(tmpdir(), 'content-settings-'));
const ends: (() => unknown)[] = [];
let upstream: TestUpstream;
let admin: AdminApi;
let client: Client;
let planeUrl: string;

const saying = (text: string) => ({ content: [{ type: 'text', text }] });

function found(pattern: string, text: string, secret: string) {
  return { pattern, text, secret };
}

beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  // The log of the process goes past console.
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  upstream = await startTestUpstream({
    tools: [
      ...['delete_file', 'write_file', 'send_message', 'update_rows'].map((name) => ({
        ...{ name, handle: ({ result }: UpstreamToolCall) => result(saying('done')) },
      })),
      {
        name: 'read_page',
        annotations: { readOnlyHint: true },
        handle: ({ args, result }) => {
          const { text } = FOUND[args.severity as Severity];
          result(saying(text));
        },
      },
    ],
  });
  ends.push(upstream.stop);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
  admin = await adminApi(cpUrl, 'admin', ADMIN_PASSWORD);
  await registerServer(admin, upstream.url);
  const agent = await registerAgent(admin, 'worker', await registerRole(admin, 'all', 'up:*'));
  const port = await freePort();
  planeUrl = `http://127.0.0.1:${port}`;
  const plane = await startDataPlane(
    {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: cpUrl,
      SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: planeUrl,
      SERVICE_DATA_DIR: dataDir,
    },
    {
      onFatal: () => {
        throw new Error('the ledger failed');
      },
    },
  );
  ends.push(() => plane.stop());
  client = await vi.waitFor(() =>
    connectSdk(`${planeUrl}/mcp/v1/up`, { authorization: basicOf(agent) }),
  );
  ends.push(() => client.close());
}, 90_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(dataDir, { recursive: true, force: true });
  vi.restoreAllMocks();
});

/** Changes settings, and waits until the data plane has the bundle that carries them. */
async function change(path: string, settings: object): Promise<void> {
  await admin.patch(path, settings);
  const { rows } = await test.superuser.query<{ revision: number }>(
    'SELECT max(revision)::float8 AS revision FROM bundles',
  );
  await vi.waitFor(
    async () => {
      const health = await (await fetch(`${planeUrl}/health`)).json();
      const { tenants } = health as { tenants: { bundle: { active: { revision: number } } }[] };
      expect(tenants[0]?.bundle.active.revision).toBeGreaterThanOrEqual(rows[0]?.revision ?? 1);
    },
    { interval: 20 },
  );
}

interface Event {
  id: string;
  method: string;
  policy_result: string;
  outcome: string | null;
}
const known = new Set<string>();

/** What the audit trail says of the calls since the last look, in their order. */
const newEvents = (count: number): Promise<Event[]> =>
  vi.waitFor(
    async () => {
      const { events } = await admin.get<{ events: Event[] }>('/api/v1/audit/events?limit=100');
      const news = events.filter(({ id, method }) => method === 'tools/call' && !known.has(id));
      expect(news).toHaveLength(count);
      for (const { policy_result, outcome } of news) {
        if (policy_result === 'allow') expect(outcome).not.toBeNull();
      }
      for (const { id } of news) known.add(id);
      return news.reverse();
    },
    { interval: 50 },
  );

/** How many calls reached the server. */
const sent = () => upstream.messages('tools/call').length;

/** The text of a call's answer, or its error. */
async function call(name: string, args: Record<string, unknown>): Promise<unknown> {
  try {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text: string }[])[0]?.text;
  } catch (error) {
    return error;
  }
}

describe('PATCH /api/v1/admin/blast-radius', () => {
  const set = (settings: object) => change('/api/v1/admin/blast-radius', settings);

  const SETTINGS = {
    min_delete_depth: 4,
    config_path_prefixes: ['/opt/shop/'],
    bulk_action_threshold: 2,
    email_recipient_limit: 1,
    protected_file_patterns: ['*.ledger'],
  };
  /** Calls that go by default, and what is said of each by these settings. */
  const ESCALATED = [
    {
      ...{ tool: 'delete_file', args: { path: '/srv/data/old' } },
      says: 'the call deletes at depth 3, and the least is 4',
    },
    {
      ...{ tool: 'write_file', args: { path: '/opt/shop/a.ini', content: 'a=1' } },
      says: 'the call writes configuration under /opt/shop/',
    },
    {
      ...{ tool: 'update_rows', args: { ids: [11, 12, 13] } },
      says: 'the call changes 3 things at once, and 2 are allowed',
    },
    {
      ...{ tool: 'send_message', args: { to: ['anna', 'ben'], text: 'hello' } },
      says: 'the call has 2 recipients, and 1 are allowed',
    },
  ];
  const DENIED = {
    ...{ tool: 'write_file', args: { path: '/srv/books/may.ledger', content: 'x' } },
    says: 'the call writes a protected file (*.ledger)',
  };
  /** What is denied by default, whoever might approve it. */
  const KEY = {
    ...{ tool: 'write_file', args: { path: '/srv/keys/site.pem', content: 'x' } },
    says: 'the call writes a protected file (*.pem)',
  };
  const ROOT = {
    ...{ tool: 'delete_file', args: { path: '/srv' } },
    says: 'the call deletes at depth 1, and the least is 2',
  };
  type Tried = typeof KEY | typeof ROOT | (typeof ESCALATED)[number];

  const goes = async ({ tool, args }: Tried) => expect(await call(tool, args)).toBe('done');

  const isDenied = async ({ tool, args, says }: Tried) =>
    expect(await call(tool, args)).toMatchObject({
      code: -32003,
      message: expect.stringContaining(`Denied by policy: Blast radius: ${says}`),
    });

  /** The call waits for a person, who denies it. */
  async function isEscalated({ tool, args, says }: Tried): Promise<void> {
    const answer = call(tool, args);
    const hold = await vi.waitFor(
      async () => {
        const { escalations } = await admin.get<{ escalations: { id: string; reason: string }[] }>(
          '/api/v1/escalations?status=pending',
        );
        expect(escalations).toHaveLength(1);
        return escalations[0];
      },
      { interval: 20 },
    );
    expect(hold?.reason).toBe(`Blast radius: ${says}`);
    await admin.post(`/api/v1/escalations/${hold?.id}/deny`);
    expect(await answer).toMatchObject({ code: -32004, data: { resolution: 'denied' } });
  }

  const went = { policy_result: 'allow', decided_by: 'policy', outcome: 'forwarded' };
  const wasDenied = ({ says }: Tried) => ({
    ...{ policy_result: 'deny', decided_by: 'blast-radius', outcome: null },
    policy_reason: `Blast radius: ${says}`,
  });
  const wasEscalated = ({ says }: Tried) => ({
    ...{ policy_result: 'escalate', decided_by: 'policy', outcome: null },
    policy_reason: `Blast radius: ${says}`,
  });

  it('holds, denies and lets go by each of its settings', async () => {
    for (const one of [...ESCALATED, DENIED]) await goes(one);
    await isDenied(KEY);
    expect(sent()).toBe(5);

    await set(SETTINGS);
    for (const one of ESCALATED) await isEscalated(one);
    await isDenied(DENIED);
    expect(sent()).toBe(5);
    await goes(KEY);
    expect(sent()).toBe(6);

    await set(DEFAULT_BLAST_RADIUS);
    for (const one of [...ESCALATED, DENIED]) await goes(one);
    await isDenied(KEY);
    expect(sent()).toBe(11);
    await isDenied(ROOT);
    await set({ min_delete_depth: 0 });
    await goes(ROOT);
    expect(sent()).toBe(12);

    expect(await newEvents(20)).toMatchObject([
      ...[went, went, went, went, went, wasDenied(KEY)],
      ...[...ESCALATED.map(wasEscalated), wasDenied(DENIED), went],
      ...[went, went, went, went, went, wasDenied(KEY)],
      ...[wasDenied(ROOT), went],
    ]);
  });
});

/** By turns: each severity has each action once, and no two neighbours have the same. */
function turns<S extends string, A extends string>(
  severities: readonly S[],
  actions: readonly A[],
): (readonly [S, A])[][] {
  return actions.map((_, turn) =>
    severities.map((severity, i) => [severity, actions[(turn + i) % actions.length] as A]),
  );
}

describe('PATCH /api/v1/dlp/settings', () => {
  const set = (settings: object) => change('/api/v1/dlp/settings', settings);
  const finding = (severity: Severity) => [
    expect.objectContaining({ pattern: FOUND[severity].pattern, severity }),
  ];

  it('blocks, warns of and logs what an agent sends, by severity', async () => {
    const expected: object[] = [];
    for (const actions of turns(['high', 'medium', 'low'], ['block', 'warn', 'log'])) {
      await set({ outbound: Object.fromEntries(actions) });
      for (const [severity, action] of actions) {
        const { pattern, text } = FOUND[severity];
        const args = { path: '/srv/notes.txt', content: text };
        const before = sent();
        const answer = await call('write_file', args);
        const isBlocked = action === 'block';
        expect(sent()).toBe(isBlocked ? before : before + 1);
        const says = `dlp: it holds sensitive data: ${pattern}`;
        const denial = {
          code: -32003,
          message: expect.stringContaining(`Denied by policy: ${says}`),
        };
        if (isBlocked) expect(answer).toMatchObject(denial);
        else {
          expect(answer).toBe('done');
          const { message } = upstream.messages('tools/call').at(-1) ?? {};
          expect(message?.params).toMatchObject({ arguments: args });
        }
        expected.push({
          dlp_action: { block: 'blocked', warn: 'warned', log: 'logged' }[action],
          dlp_findings: finding(severity),
          ...(isBlocked
            ? { policy_result: 'deny', decided_by: 'dlp', policy_reason: says }
            : { policy_result: 'allow', decided_by: 'policy' }),
        });
      }
    }
    expect(await newEvents(expected.length)).toMatchObject(expected);
  });

  it('blocks, redacts and logs what a server answers, by severity', async () => {
    const expected: object[] = [];
    const severities = ['critical', 'high', 'medium', 'low'] as const;
    for (const actions of turns(severities, ['block', 'redact', 'log'])) {
      await set({ results: Object.fromEntries(actions) });
      for (const [severity, action] of actions) {
        const { pattern, text, secret } = FOUND[severity];
        const answer = await call('read_page', { severity });
        const blocked = { code: -32603, data: { failure: 'blocked', dlp_patterns: [pattern] } };
        if (action === 'block') expect(answer).toMatchObject(blocked);
        else if (action === 'log') expect(answer).toBe(text);
        else {
          const redacted = text.replace(secret, `[REDACTED:${pattern}]`);
          expect(answer).toBe(redacted);
        }
        expected.push({
          // Of what the agent sent; `inspection` is of what came back.
          dlp_action: null,
          policy_result: 'allow',
          result_action: { block: 'blocked', redact: 'replaced', log: 'allowed' }[action],
          inspection: {
            step: action === 'log' ? null : 'dlp',
            dlp_findings: finding(severity),
          },
        });
      }
    }
    expect(await newEvents(expected.length)).toMatchObject(expected);
  });
});
