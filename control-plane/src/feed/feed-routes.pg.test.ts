import { FeedPageBody, SnapshotLine } from '@governance/shared/channel/channel-routes';
import type { NewFact } from '@governance/shared/channel/facts';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { type StatementKey, verifyStatement } from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { type CallOptions, testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { apply, roleFact } from '../testing/test-feed.ts';
import { LISTENER_LIMITS } from './tenant-listeners.ts';

const skew = 0;
const { app, call, aTenantAdmin, controlPlane, test, logged } = await testControlPlane({
  now: () => new Date(Date.now() + skew),
});

/** A tenant with a registered data plane. */
async function aPlane() {
  const { scope, token: admin } = await aTenantAdmin();
  const { tenantId } = scope;
  const body = { label: 'x' };
  const issued = await call('/api/v1/admin/data-plane-tokens', { token: admin, body });
  const root: string = issued.json().token;
  const register = async () => {
    const body = aRegistration().provenWith(root);
    const answer = await call('/api/v1/data-planes/register', { token: root, body });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json();
  };
  const registered = await register();
  const deploymentId: string = registered.deployment_id;
  const token: string = registered.token.token;
  const keys: StatementKey[] = registered.feed_keys;
  const url = `/api/v1/data-planes/${deploymentId}/feed`;
  const feed = (query: Record<string, string | number> = {}, options: CallOptions = {}) => {
    const { digest = FEED_START, cursor = 0, ...more } = query;
    const search = Object.entries({ cursor, digest, ...more }).map((pair) => pair.join('='));
    return call(`${url}?${search.join('&')}`, { token, ...options });
  };
  const change = (...facts: NewFact[]) =>
    controlPlane.db.inTenant(scope, async (tx) => {
      for (const fact of facts) tx.feed.append(fact);
    });
  /** Where the feed ends now. */
  const end = async () => {
    const page = FeedPageBody.parse((await feed()).json());
    const { feed_seq: cursor, feed_digest: digest } = page.statement.statement;
    return { cursor, digest };
  };
  /** Revokes the issued token, and the data plane's own with it. */
  const revoke = async () => {
    const { tokens } = (await call('/api/v1/admin/data-plane-tokens', { token: admin })).json();
    const issued = tokens.find((shown: { root_id: string | null }) => shown.root_id === null);
    const url = `/api/v1/admin/data-plane-tokens/${issued.id}`;
    expect((await call(url, { method: 'DELETE', token: admin })).statusCode).toBe(204);
  };
  return {
    scope,
    admin,
    tenantId,
    root,
    register,
    deploymentId,
    token,
    keys,
    url,
    feed,
    change,
    end,
    revoke,
  };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('GET /api/v1/data-planes/{deployment_id}/feed', () => {
  it('gives entries from a cursor on, and a signed statement', async () => {
    const { feed, change, keys, tenantId } = await aPlane();
    for (const n of [1, 2, 3]) await change(roleFact(n));
    const answer = await feed({ limit: 2 });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    const first = FeedPageBody.parse(answer.json());
    const digest = first.entries.reduce(feedDigest, FEED_START);
    const second = FeedPageBody.parse((await feed({ cursor: first.cursor, digest })).json());
    expect([...first.entries, ...second.entries].map(({ kind, key }) => [kind, key])).toEqual([
      ['role', roleFact(1).key],
      ['role', roleFact(2).key],
      ['role', roleFact(3).key],
    ]);
    expect(second).toMatchObject({ cursor: 3, head: 3 });
    const statement = verifyStatement(second.statement, { tenantId, keys });
    expect(statement).toMatchObject({
      type: 'freshness',
      feed_seq: 3,
      feed_digest: second.entries.reduce(feedDigest, digest),
      bundle: null,
    });
  });

  it('says to each data plane that it is recognised, and to an issued token nothing', async () => {
    const { feed, root, register, url, keys, tenantId, deploymentId, change } = await aPlane();
    await change(roleFact(1));
    const second = await register();
    const before = new Date().toISOString();
    const other = `/api/v1/data-planes/${second.deployment_id}/feed`;
    const search = `cursor=0&digest=${FEED_START}`;
    const pages = [
      await feed(),
      await call(`${other}?${search}`, { token: second.token.token }),
      await call(`${url}?${search}`, { token: root }),
    ].map((answer) => FeedPageBody.parse(answer.json()));
    const said = pages.map(
      ({ recognition }) => recognition && verifyStatement(recognition, { tenantId, keys }),
    );
    expect(said.map((one) => one?.deployment_id)).toEqual([
      deploymentId,
      second.deployment_id,
      undefined,
    ]);
    expect((said[0]?.time ?? '') >= before).toBe(true);
    expect(pages[0]?.entries).toEqual(pages[2]?.entries);
    // Within a minute it costs no further signature.
    expect((await feed()).json().recognition).toEqual(pages[0]?.recognition);
  });

  it('names the newest bundle in the statement', async () => {
    const { feed, scope } = await aPlane();
    const revision = Date.now();
    await controlPlane.db.inTenant(scope, async (tx) => {
      const { tenantId } = scope;
      const digest = 'a'.repeat(64);
      const more = { contentDigest: 'c', sourcesDigest: 's', bytes: new Uint8Array(1) };
      await tx.db.bundle.create({ data: { tenantId, revision, digest, ...more } });
      await tx.db.tenantHead.update({ where: { tenantId }, data: { bundleRevision: revision } });
    });
    const { statement } = FeedPageBody.parse((await feed()).json());
    expect(statement.statement.bundle).toEqual({ revision, digest: 'a'.repeat(64) });
  });

  it('holds a long poll until something changes', async () => {
    const { feed, change, end } = await aPlane();
    await change(roleFact(1));
    const polling = feed({ ...(await end()), wait: 30 });
    await sleep(50);
    await change(roleFact(2));
    const answer = await polling;
    expect(answer.json()).toMatchObject({ entries: [{ seq: 2 }], cursor: 2, head: 2 });
  });

  it('answers an empty page when the wait is over', async () => {
    const { feed } = await aPlane();
    const began = performance.now();
    const answer = await feed({ wait: 1 });
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(answer.json()).toMatchObject({ entries: [], cursor: 0, head: 0 });
  });

  it('answers 401 at once to a poll whose token is revoked while it is held', async () => {
    const { feed, token, revoke } = await aPlane();
    const polling = feed({ wait: 30 });
    await sleep(50);
    await revoke();
    expect((await polling).statusCode).toBe(401);
    expect((await feed({}, { token })).statusCode).toBe(401);
  });

  it('answers 401 to a read whose token is revoked meanwhile, though it does not wait', async () => {
    const { feed, change, revoke } = await aPlane();
    await change(roleFact(1));
    const { readFeed } = controlPlane.feedReader;
    const reading = vi.spyOn(controlPlane.feedReader, 'readFeed');
    reading.mockImplementationOnce(async (request) => {
      const page = await readFeed(request);
      await revoke();
      return page;
    });
    expect((await feed()).statusCode).toBe(401);
    reading.mockRestore();
  });

  it.each([
    ['beyond the head', { cursor: 9 }],
    ['with another digest', { digest: 'a'.repeat(64) }],
  ])('answers 410 to a cursor %s', async (_, query) => {
    const { feed, change } = await aPlane();
    await change(roleFact(1));
    const answer = await feed({ ...query, wait: 30 });
    expect([answer.statusCode, answer.json()]).toEqual([
      410,
      { detail: 'The feed cannot be continued from this cursor: read a snapshot.' },
    ]);
  });

  it.each([
    ['cursor', { cursor: -1 }],
    ['cursor', { cursor: '1.5' }],
    ['digest', { digest: 'x' }],
    ['digest', { digest: 'A'.repeat(64) }],
    ['limit', { limit: 0 }],
    ['limit', { limit: 1_001 }],
    ['wait', { wait: 31 }],
    ['wait', { wait: 'NaN' }],
    ['backlog', { backlog: -1 }],
  ])('answers 422 to a %s of %j', async (field, query) => {
    const answer = await plane.feed(query);
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().errors[0].loc).toEqual(['query', field]);
  });

  it('is for the data plane itself', async () => {
    const other = await aPlane();
    const { feed, root, register, url } = plane;
    const second = await register();
    const status = async (token: string) => (await feed({}, { token })).statusCode;
    expect(await status(plane.token)).toBe(200);
    expect(await status(root)).toBe(200);
    // Another deployment of the tenant, and another tenant.
    const notFound = { detail: 'No such data plane.' };
    const answer = await feed({}, { token: second.token.token });
    expect([answer.statusCode, answer.json()]).toEqual([404, notFound]);
    expect(await status(other.token)).toBe(404);
    expect(await status(other.root)).toBe(404);
    const nowhere = `/api/v1/data-planes/${uuidv7()}/feed?cursor=0&digest=${FEED_START}`;
    expect((await call(nowhere, { token: root })).statusCode).toBe(404);
    expect((await call(`${url}?cursor=0&digest=${FEED_START}`)).statusCode).toBe(401);
    expect(await status('wrong')).toBe(401);
  });

  it('is closed to a revoked one', async () => {
    const { feed, root, scope, deploymentId } = await aPlane();
    await controlPlane.db.inTenant(scope, (tx) =>
      tx.db.dataPlane.updateMany({ where: { deploymentId }, data: { status: 'revoked' } }),
    );
    expect((await feed({}, { token: root })).statusCode).toBe(409);
  });

  it('notes where a data plane stands, at most every 30 s', async () => {
    const { feed, change, scope, deploymentId, end } = await aPlane();
    const noted = async () => {
      const { rows } = await test.superuser.query(
        `SELECT feed_cursor AS cursor, backlog_records AS backlog, feed_read_at AS at
         FROM data_planes WHERE tenant_id = $1 AND deployment_id = $2`,
        [scope.tenantId, deploymentId],
      );
      return rows[0];
    };
    await change(roleFact(1));
    await feed({ backlog: 7 });
    await expect.poll(noted).toEqual({ cursor: '0', backlog: '7', at: expect.any(Date) });
    await feed({ ...(await end()), backlog: 8 });
    await sleep(50);
    expect(await noted()).toMatchObject({ cursor: '0', backlog: '7' });
  });

  it('answers though that cannot be noted', async () => {
    const { feed } = await aPlane();
    await test.superuser.query(
      `CREATE FUNCTION refuse_note() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'no note'; END$$;
       CREATE TRIGGER refuse_note BEFORE UPDATE OF feed_cursor ON data_planes
         FOR EACH ROW EXECUTE FUNCTION refuse_note()`,
    );
    expect((await feed({ backlog: 7 })).statusCode).toBe(200);
    await expect
      .poll(() =>
        logged.some((line) => line.includes('the feed places of data planes were not stored')),
      )
      .toBe(true);
    await test.superuser.query('DROP TRIGGER refuse_note ON data_planes');
  });

  it('costs 1,000 long polls one read of the feed a change, and no bundle', async () => {
    const { change, scope, end, root } = await aPlane();
    await change(roleFact(1));
    const place = await end();
    // As many as it takes with the share of each.
    const { rows: planes } = await test.superuser.query<{ id: string }>(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       SELECT $1, gen_random_uuid(), '{}', '{}' FROM generate_series(1, $2)
       RETURNING deployment_id AS id`,
      [scope.tenantId, Math.ceil(1_000 / LISTENER_LIMITS.perDeployment)],
    );
    const poll = (n: number, wait: number) => {
      const search = new URLSearchParams({ ...place, wait } as never);
      const url = `/api/v1/data-planes/${planes[n % planes.length]?.id}/feed?${search}`;
      return call(url, { token: root });
    };
    await Promise.all(planes.map((_, n) => poll(n, 0)));
    const queries = vi.spyOn(pg.Client.prototype, 'query');
    const count = (part: string) =>
      queries.mock.calls.filter(([query]) => textOf(query).includes(part)).length;
    const readFeed = vi.spyOn(controlPlane.feedReader, 'readFeed');
    const polls = Array.from({ length: 1_000 }, (_, n) => poll(n, 30));
    await vi.waitFor(() => expect(readFeed).toHaveBeenCalledTimes(1_000), 10_000);
    await sleep(400);
    // And what each had to do beside waiting is a few statements for all.
    expect(count('find_attested_token')).toBeLessThan(100);
    expect(count('data_planes')).toBeLessThan(10);
    queries.mockClear();
    await change(roleFact(2));
    for (const answer of await Promise.all(polls)) expect(answer.json().cursor).toBe(2);
    expect(count('FROM feed_entries')).toBe(1);
    // Before they are let out the token is looked at once more, for all of them.
    expect(count('find_attested_token')).toBe(1);
    expect(count('bundles')).toBe(1);
    queries.mockRestore();
    readFeed.mockRestore();
    const { rows } = await test.superuser.query('SELECT 1 FROM bundles WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('GET /api/v1/data-planes/{deployment_id}/feed/snapshot', () => {
  it('gives all that is valid as lines, and then its signed end', async () => {
    const { url, token, change, keys, tenantId, end } = await aPlane();
    await change(...Array.from({ length: 3_000 }, (_, n) => roleFact(n % 1_500, `name ${n}`)));
    const answer = await call(`${url}/snapshot`, { token });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
    });
    const lines = answer.body.split('\n');
    expect(lines.pop()).toBe('');
    const last = SnapshotLine.parse(JSON.parse(lines.pop() ?? ''));
    if (!('end' in last)) throw new Error('there is no end');
    const { cursor, digest } = await end();
    const statement = verifyStatement(last.end, { tenantId, keys });
    expect(statement).toMatchObject({ type: 'snapshot_end', feed_seq: cursor, count: 1_500 });
    expect(statement.feed_digest).toBe(digest);
    const facts = new Map<string, unknown>();
    for (const line of lines) {
      const parsed = SnapshotLine.parse(JSON.parse(line));
      if ('entry' in parsed) apply(facts, parsed.entry);
    }
    expect(facts.size).toBe(1_500);
    expect(facts.get(`role/${roleFact(1_499).key}`)).toMatchObject({ name: 'name 2999' });
  });

  it('lets a data plane go on from its end', async () => {
    const { url, token, change, feed } = await aPlane();
    await change(roleFact(1));
    await change(roleFact(2));
    const { body } = await call(`${url}/snapshot`, { token });
    const { feed_seq: cursor, feed_digest: digest } = JSON.parse(
      body.trimEnd().split('\n').at(-1) ?? '',
    ).end.statement;
    await change(roleFact(3));
    expect((await feed({ cursor, digest })).json()).toMatchObject({ entries: [{ seq: 3 }] });
  });

  it('is for the data plane itself', async () => {
    const other = await aPlane();
    const { register, url, root } = plane;
    const second = await register();
    const status = async (token: string | undefined, at = url) =>
      (await call(`${at}/snapshot`, token === undefined ? {} : { token })).statusCode;
    expect(await status(plane.token)).toBe(200);
    expect(await status(root)).toBe(200);
    expect(await status(second.token.token)).toBe(404);
    expect(await status(other.token)).toBe(404);
    expect(await status(root, `/api/v1/data-planes/${uuidv7()}/feed`)).toBe(404);
    expect(await status(undefined)).toBe(401);
    expect(await status('wrong')).toBe(401);
  });

  it('is not given to one that was revoked while it waited for its turn', async () => {
    const { url, token, change, revoke } = await aPlane();
    await change(roleFact(1));
    const { readSnapshot } = controlPlane.feedReader;
    let isEnded = false;
    const reading = vi.spyOn(controlPlane.feedReader, 'readSnapshot');
    reading.mockImplementationOnce(async function* (request) {
      await revoke();
      try {
        return yield* readSnapshot(request);
      } finally {
        isEnded = true;
      }
    });
    expect((await call(`${url}/snapshot`, { token })).statusCode).toBe(401);
    expect(isEnded).toBe(true);
    reading.mockRestore();
  });

  it('asks to come back when too many are served', async () => {
    const { feed, url, token } = plane;
    const busy = new AppError('UNAVAILABLE');
    vi.spyOn(controlPlane.feedReader, 'readFeed').mockRejectedValueOnce(busy);
    vi.spyOn(controlPlane.feedReader, 'readSnapshot').mockImplementationOnce(async function* () {
      yield* [];
      throw busy;
    });
    for (const answer of [await feed(), await call(`${url}/snapshot`, { token })]) {
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    }
  });

  it('is held back by a reader that is slow, and ends with one that goes', async () => {
    const { change, url, token } = await aPlane();
    // More than the buffers between two sockets hold.
    await change(...Array.from({ length: 2_200 }, (_, n) => roleFact(n, 'x'.repeat(10_000))));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { authorization: `Bearer ${token}` };
    const gone = new AbortController();
    const read = () => fetch(`${origin}${url}/snapshot`, { headers, signal: gone.signal });
    // The tenant's two slots, by readers that take the headers and read no further.
    for (const answer of [await read(), await read()]) expect(answer.status).toBe(200);
    let isRead = false;
    const third = call(`${url}/snapshot`, { token }).finally(() => {
      isRead = true;
    });
    await sleep(300);
    expect(isRead).toBe(false);
    gone.abort();
    expect((await third).statusCode).toBe(200);
  });
});

const plane = await aPlane();

/** What `pg` is asked: a text, or an object that has it. */
function textOf(query: unknown): string {
  return typeof query === 'string' ? query : String((query as { text?: string } | null)?.text);
}
