/** What has to hold with two control planes on one database, whichever of them is asked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import type { NewFact } from '@governance/shared/channel/facts';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { createParser } from 'eventsource-parser';
import { afterEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../../tests/support/a-tenant.ts';
import { anAgent } from '../../../../tests/support/an-agent.ts';
import { type TestReplica, testReplicas } from '../../../../tests/support/test-replicas.ts';
import { createBundleSource } from '../../bundles/bundle-source.ts';
import { createChangeBus } from '../database/change-bus.ts';
import type { TenantScope } from '../database/tenant-scope.ts';

const replicas = await testReplicas();
const { test } = replicas;
const [a, b] = await Promise.all([replicas.start(), replicas.start()]);

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function anAdmin(): Promise<{ scope: TenantScope; token: string }> {
  const scope = await aTenant(test);
  const { id, username } = scope.actor;
  const account = { role: 'admin', id, username, tenantId: scope.tenantId, version: '1' } as const;
  return { scope, token: await a.controlPlane.adminTokens.issue(account) };
}

const rego = (name: string) => `package p\n\nallow if input.request.tool_name == "${name}"\n`;
const aPolicy = (replica: TestReplica, token: string, name: string) =>
  replica.call('/api/v1/policies', {
    token,
    body: { name, rego_content: rego(name), status: 'active' },
  });

const role = (n: number): NewFact => {
  const id = `0190aaaa-0000-7000-8000-0000000000${String(n).padStart(2, '0')}`;
  return {
    kind: 'role',
    key: id,
    value: { id, name: `role ${n}`, permissions: [], resource_scopes: [] },
  };
};
const appendAt = ({ controlPlane }: TestReplica, scope: TenantScope, n: number) =>
  controlPlane.db.inTenant(scope, async (tx) => tx.feed.append(role(n)));

/** Waits for what comes after the first `cursor` roles. */
function readFeed({ controlPlane }: TestReplica, { tenantId }: TenantScope, cursor: number) {
  const before = Array.from({ length: cursor }, (_, n) => ({ seq: n + 1, ...role(n) }));
  const abort = new AbortController();
  closers.push(() => abort.abort());
  return controlPlane.feedReader.readFeed({
    tenantId,
    cursor,
    digest: before.reduce(feedDigest, FEED_START),
    limit: 100,
    waitMs: 20_000,
    signal: abort.signal,
  });
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1_000; i++) {
    if (await condition()) return;
    await sleep(10);
  }
  expect.unreachable('it did not happen');
}

const killListeners = () =>
  test.superuser.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'governance_changes' AND datname = current_database()`,
  );

describe('what is changed at one replica', () => {
  it('wakes a poll of the feed that waits at the other', async () => {
    const { scope } = await anAdmin();
    for (let n = 0; n < 5; n++) {
      const waiting = readFeed(b, scope, n);
      await sleep(60);
      const started = performance.now();
      await appendAt(a, scope, n);
      const page = await waiting;
      expect(page.head).toBe(n + 1);
      expect(performance.now() - started).toBeLessThan(8_000);
    }
  });

  it('replaces the bundle that the other has in memory, and wakes who waits for it', async () => {
    const { scope, token } = await anAdmin();
    const { tenantId } = scope;
    expect((await aPolicy(a, token, 'first')).status).toBe(201);
    const before = await b.controlPlane.bundleSource.findCurrent(tenantId);
    const { signal } = new AbortController();
    const digest = before?.digest ?? null;
    const waiting = b.controlPlane.bundleSource.pullBundle({
      tenantId,
      digest,
      waitMs: 20_000,
      signal,
    });
    expect((await aPolicy(a, token, 'second')).status).toBe(201);
    const started = performance.now();
    const after = await waiting;
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(after?.revision).toBeGreaterThan(before?.revision ?? 0);
    expect(after?.digest).toBe((await a.controlPlane.bundleSource.findCurrent(tenantId))?.digest);
  });

  it('is heard after the sessions that tell of it were killed', async () => {
    const { scope } = await anAdmin();
    for (let n = 0; n < 3; n++) {
      const waiting = readFeed(b, scope, n);
      await sleep(30);
      await killListeners();
      await appendAt(a, scope, n);
      expect((await waiting).head).toBe(n + 1);
    }
  });

  it('is found by a waiting request even without a notification', async () => {
    const { scope, token } = await anAdmin();
    await aPolicy(a, token, 'first');
    const source = createBundleSource({
      db: test.db,
      changes: createChangeBus(() => {}),
      recheckAfterMs: 50,
    });
    closers.push(source.close);
    const { tenantId } = scope;
    const before = await source.findCurrent(tenantId);
    const { signal } = new AbortController();
    const request = { tenantId, digest: before?.digest ?? null, waitMs: 3_000, signal };
    const waiting = source.pullBundle(request);
    await aPolicy(a, token, 'second');
    expect((await waiting)?.revision).toBeGreaterThan(before?.revision ?? 0);
    expect(await source.findCurrent(tenantId)).toEqual(
      await a.controlPlane.bundleSource.findCurrent(tenantId),
    );
  });

  it('counts at once at the other: credentials, administrators, tokens of data planes', async () => {
    const { scope, token } = await anAdmin();
    const agent = await anAgent(test, scope);
    const login = () =>
      b.call('/api/v1/auth/token', {
        method: 'POST',
        body: {
          client_id: agent.clientId,
          client_secret: agent.clientSecret,
          grant_type: 'client_credentials',
        },
      });
    expect((await login()).status).toBe(200);
    const suspended = await a.call(`/api/v1/agents/${agent.id}`, {
      method: 'PATCH',
      token,
      body: { status: 'suspended' },
    });
    expect(suspended.status).toBe(200);
    expect((await login()).status).toBeGreaterThanOrEqual(400);

    const issued = await a.call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
    const { id, token: secret } = (await issued.json()) as { id: string; token: string };
    const bundle = () =>
      b
        .call(`/api/v1/opa/bundle/${scope.tenantId}`, { token: secret })
        .then(({ status }) => status);
    expect(await bundle()).not.toBe(401);
    await a.call(`/api/v1/admin/data-plane-tokens/${id}`, { method: 'DELETE', token });
    expect(await bundle()).toBe(401);

    await test.superuser.query('UPDATE administrators SET token_version = 2 WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    expect((await b.call('/api/v1/agents', { token })).status).toBe(401);
  });

  it('ends at once at the other what a user may no longer do', async () => {
    const { token } = await anAdmin();
    const account = { username: 'two-replicas@example.com', password: 'long enough' };
    const made = await a.call('/api/v1/admin/users', {
      token,
      body: { ...account, role: 'approver' },
    });
    const { id } = (await made.json()) as { id: string };
    const login = await b.call('/api/v1/auth/admin/login', { body: account });
    const { access_token: own } = (await login.json()) as { access_token: string };
    const read = async () => (await b.call('/api/v1/policies', { token: own })).status;
    expect(await read()).toBe(200);
    await a.call(`/api/v1/admin/users/${id}`, {
      ...{ token, method: 'PATCH', body: { role: 'auditor' } },
    });
    expect(await read()).toBe(401);
  });

  it('a change request is decided at one of them', async () => {
    const { scope, token } = await anAdmin();
    const policy = (await (await aPolicy(a, token, 'reviewed')).json()) as { id: string };
    const proposed = await a.call(`/api/v1/policies/${policy.id}/change-requests`, {
      token,
      body: { proposed_rego_content: rego('proposed') },
    });
    const request = (await proposed.json()) as { id: string };
    const url = `/api/v1/policies/${policy.id}/change-requests/${request.id}`;
    const answers = await Promise.all(
      [a, b, a, b].map((replica, n) =>
        replica.call(`${url}/${n < 2 ? 'approve' : 'reject'}`, { token, body: {} }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409, 409, 409]);
    const { rows } = await test.superuser.query<{ action: string }>(
      `SELECT convert_from(bytes, 'utf8')::jsonb ->> 'action' AS action FROM ledger_records
       WHERE tenant_id = $1 AND type = 'admin_action'`,
      [scope.tenantId],
    );
    const decisions = rows.filter(({ action }) => /policy_change_(approved|rejected)/.test(action));
    expect(decisions).toHaveLength(1);
  });
});

describe('bundles', () => {
  it('that both build at once come in one order, and the last one has every change', async () => {
    const { scope, token } = await anAdmin();
    const names = Array.from({ length: 12 }, (_, n) => `policy ${n}`);
    const answers = await Promise.all(
      names.map((name, n) => aPolicy(n % 2 === 0 ? a : b, token, name)),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const { rows } = await test.superuser.query<{ value: string }>(
      `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = 'bundle' ORDER BY seq`,
      [scope.tenantId],
    );
    const revisions = rows.map(({ value }) => (JSON.parse(value) as { revision: number }).revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((x, y) => x - y));
    for (const { controlPlane } of [a, b]) {
      const current = () => controlPlane.bundleSource.findCurrent(scope.tenantId);
      await until(async () => (await current())?.revision === revisions.at(-1));
      const files = await unpackArchive(Buffer.from((await current())?.bytes ?? []));
      const policies = [...files.keys()].filter((name) => name.startsWith('policies/'));
      expect(policies).toHaveLength(names.length);
    }
  });
});

describe('the audit stream', () => {
  interface Listener {
    events: { id: number; target: unknown }[];
    comments: string[];
    close(): void;
    ended: Promise<unknown>;
  }

  async function listen(replica: TestReplica, token: string, lastId?: number): Promise<Listener> {
    const abort = new AbortController();
    closers.push(() => abort.abort());
    const response = await fetch(`${replica.url}/api/v1/audit/stream`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastId === undefined ? {} : { 'last-event-id': String(lastId) }),
      },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    const events: Listener['events'] = [];
    const comments: string[] = [];
    const parser = createParser({
      onEvent: ({ id, data }) => {
        if (id !== undefined) events.push({ id: Number(id), target: JSON.parse(data).target });
      },
      onRetry: () => void comments.push('retry'),
    });
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        parser.feed(decoder.decode(chunk, { stream: true }));
      }
    };
    return { events, comments, close: () => abort.abort(), ended: read().catch(() => undefined) };
  }

  it('shows at one replica what the other took in, and goes on there after a loss', async () => {
    const third = await replicas.start();
    const { scope, token } = await anAdmin();
    const plane = await aDataPlane(test, scope);
    plane.boot();
    let shipped = 0;
    const shipTo = async ({ controlPlane }: TestReplica) => {
      const batch = plane.batch(shipped);
      shipped = plane.records.length;
      await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
    };
    await shipTo(a);
    const first = await listen(third, token);
    await until(() => first.comments.length > 0);
    await sleep(50);

    const writing = (async () => {
      for (let n = 0; n < 120; n++) {
        plane.append(aDecision({ target: `/${n}` }));
        await shipTo(n % 2 === 0 ? a : b);
        await sleep(5);
      }
    })();
    await until(() => first.events.length >= 30);
    // Mid-stream the replica goes; the client comes back to another one with the last id it has.
    await third.stop();
    await first.ended;
    const last = first.events.at(-1)?.id;
    const second = await listen(b, token, last);
    await writing;
    const all = () => [...first.events, ...second.events];
    await until(() => all().length >= 120);
    await sleep(100);
    expect(all().map(({ target }) => target)).toEqual(
      Array.from({ length: 120 }, (_, n) => `/${n}`),
    );
  });

  it('shows an event without being asked again', async () => {
    const { scope, token } = await anAdmin();
    const plane = await aDataPlane(test, scope);
    plane.boot();
    const listener = await listen(b, token);
    await until(() => listener.comments.length > 0);
    await sleep(50);
    plane.append(aDecision({ target: '/x' }));
    const { tenantId } = scope;
    await a.controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(0));
    const started = performance.now();
    await until(() => listener.events.length > 0);
    expect(performance.now() - started).toBeLessThan(8_000);
  });
});

describe('periodic work', () => {
  it('is done by one of them, whose place another takes when it stops or loses its session', async () => {
    const all = [a, b, await replicas.start()];
    const leaders = () => all.filter(({ controlPlane }) => controlPlane.leaderWork.isLeader());
    /** The session that holds the lock, as PostgreSQL sees it. */
    const holder = async () => {
      const { rows } = await test.superuser.query<{ pid: number }>(
        `SELECT l.pid FROM pg_locks l JOIN pg_stat_activity s USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND s.application_name = 'governance_leader'
           AND s.datname = current_database()`,
      );
      return rows.map(({ pid }) => pid);
    };
    const isSettled = async (notBy: number | undefined) => {
      const [pid, ...others] = await holder();
      return pid !== undefined && pid !== notBy && others.length === 0 && leaders().length === 1;
    };
    await until(() => isSettled(undefined));
    for (let round = 0; round < 3; round++) {
      const [pid] = await holder();
      await test.superuser.query('SELECT pg_terminate_backend($1)', [pid]);
      await until(() => isSettled(pid));
    }
    const [pid] = await holder();
    const leader = leaders()[0];
    await leader?.stop();
    await until(() => isSettled(pid));
    expect(leaders()).not.toContain(leader);
  });
});
