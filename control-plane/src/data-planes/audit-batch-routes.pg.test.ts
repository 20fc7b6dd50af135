import { BATCH_LIMITS, encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import Fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Registry } from 'prom-client';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  aDecision,
  createWriter,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { auditBatchRoutes } from './audit-batch-routes.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
let time = Date.now();
const { call, aTenantAdmin, test } = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_METRICS_TOKEN: 'metrics' },
});

let tenantId: string;
let admin: string;
let token: string;
let plane: TestDataPlane;
beforeEach(async () => {
  ({
    token: admin,
    scope: { tenantId },
  } = await aTenantAdmin());
  ({ token, plane } = await join());
});

async function join() {
  const issued = await call('/api/v1/admin/data-plane-tokens', {
    token: admin,
    body: { label: 'x' },
  });
  const root = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const reply = RegistrationReply.parse(answer.json());
  const plane = createWriter(tenantId, reply.deployment_id, keys.signingKey);
  plane.boot();
  plane.append(aDecision());
  return { token: reply.token.token, plane, root, rootId: issued.json().id };
}

const ship = (
  body: Buffer | string,
  { as = token, at = plane.deploymentId, type = NDJSON as string } = {},
) =>
  call(`/api/v1/data-planes/${at}/audit-batches`, {
    token: as,
    body,
    headers: { 'content-type': type },
  });

const stored = async () => {
  const { rows } = await test.superuser.query(
    'SELECT epoch, seq::int FROM ledger_records WHERE tenant_id = $1 AND stream = $2 ORDER BY 1, 2',
    [tenantId, plane.deploymentId],
  );
  return rows.map(({ epoch, seq }) => [epoch, seq]);
};

async function metric(name: string): Promise<number> {
  const { body } = await call('/metrics', { token: 'metrics' });
  const line = body.split('\n').find((one) => one.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('a batch', () => {
  it('is answered once it is stored, and again when it comes again', async () => {
    const batch = encodeBatch(plane.batch(0));
    const before = await metric('governance_ingest_records_total');
    const answer = await ship(batch);
    expect(answer.statusCode, answer.body).toBe(200);
    const receipt = {
      stream: plane.deploymentId,
      epoch: 1,
      last_seq: 2,
      head: plane.head.head,
    };
    expect(answer.json()).toEqual({ status: 'accepted', ...receipt });
    expect((await ship(batch)).json()).toEqual({ status: 'already_stored', ...receipt });
    expect(await stored()).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(await metric('governance_ingest_records_total')).toBe(before + 4);
    expect(await metric('governance_ingest_batches_in_work')).toBe(0);
  });

  it('of a clone is a fork: 409, the data plane is forked, and an alert says so', async () => {
    const clone = plane.clone();
    plane.append(aDecision());
    clone.append(aDecision());
    expect((await ship(encodeBatch(plane.batch(0)))).statusCode).toBe(200);
    const answer = await ship(encodeBatch(clone.batch(2)));
    expect(answer.statusCode).toBe(409);
    expect(answer.json().errors).toMatchObject([{ type: 'stream_fork' }]);
    const { data_planes: planes } = (await call('/api/v1/data-planes', { token: admin })).json();
    expect(planes).toMatchObject([{ deployment_id: plane.deploymentId, status: 'forked' }]);
    const { alerts } = (await call('/api/v1/monitor/alerts', { token: admin })).json();
    const types = alerts.map((alert: { alert_type: string }) => alert.alert_type);
    expect(types).toContain('DATA_PLANE_FORKED');
  });

  it('with earlier ones missing is a gap, and says from where to ship', async () => {
    const answer = await ship(encodeBatch(plane.batch(1)));
    expect(answer.statusCode).toBe(409);
    expect(answer.json().errors).toMatchObject([{ type: 'stream_gap', loc: ['stream', 1, 1] }]);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a header of another form', '{"header":{},"signature":""}\n{}'],
    ['a list', '[]'],
    ['no UTF-8', Buffer.from([0xff, 0xfe])],
  ])('that is %s is refused', async (_, body) => {
    const answer = await ship(body);
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().detail).toEqual(expect.any(String));
  });

  it('that was signed by another key is refused', async () => {
    const other = await join();
    const stranger = createWriter(tenantId, plane.deploymentId, other.plane.signingKey);
    stranger.boot();
    const answer = await ship(encodeBatch(stranger.batch(0)));
    expect([answer.statusCode, await stored()]).toEqual([422, []]);
  });

  it('is NDJSON, and no larger than agreed', async () => {
    const before = await metric('governance_ingest_rejected_batches_total{reason="413"}');
    const batch = encodeBatch(plane.batch(0));
    expect((await ship(batch, { type: 'application/json' })).statusCode).toBe(415);
    expect((await ship(batch, { type: 'text/plain' })).statusCode).toBe(415);
    expect((await ship(batch, { type: `${NDJSON}; charset=utf-16` })).statusCode).toBe(415);
    expect((await ship(Buffer.alloc(BATCH_LIMITS.bytes + 1))).statusCode).toBe(413);
    const [header] = batch.toString().split('\n');
    const many = `${header}${'\n{}'.repeat(BATCH_LIMITS.records + 1)}`;
    expect((await ship(many)).statusCode).toBe(413);
    expect(await metric('governance_ingest_rejected_batches_total{reason="413"}')).toBe(before + 2);
  });

  it('is taken by no other route', async () => {
    const url = `/api/v1/data-planes/${plane.deploymentId}/heartbeat`;
    const headers = { 'content-type': NDJSON };
    expect((await call(url, { token, body: '{}', headers })).statusCode).toBe(415);
  });

  it('of another deployment, or tenant, is not found', async () => {
    const other = await join();
    const batch = encodeBatch(plane.batch(0));
    expect((await ship(batch, { as: other.token })).statusCode).toBe(404);
    const elsewhere = await aTenantAdmin();
    const foreign = await call('/api/v1/admin/data-plane-tokens', {
      token: elsewhere.token,
      body: { label: 'x' },
    });
    expect((await ship(batch, { as: foreign.json().token })).statusCode).toBe(404);
    expect(await stored()).toEqual([]);
  });
});

describe('the backlog of a data plane', () => {
  const batches = () => encodeBatch(plane.batch(0));

  it('is taken for 7 days after its token was revoked, by its key alone', async () => {
    const { tokens } = (await call('/api/v1/admin/data-plane-tokens', { token: admin })).json();
    const own = tokens.find(
      (one: { deployment_id: string | null }) => one.deployment_id === plane.deploymentId,
    );
    const url = `/api/v1/admin/data-plane-tokens/${own.id}`;
    expect((await call(url, { token: admin, method: 'DELETE' })).statusCode).toBe(204);
    const began = time;
    time = began + WEEK_MS - 1;
    const stranger = createWriter(
      tenantId,
      plane.deploymentId,
      (await joinElsewhere()).plane.signingKey,
    );
    stranger.boot();
    expect((await ship(encodeBatch(stranger.batch(0)))).statusCode).toBe(422);
    expect((await ship(batches())).statusCode).toBe(200);
    time = began + WEEK_MS;
    expect((await ship(batches())).statusCode).toBe(401);
    time = began;
  });

  it('is taken for 7 days after its token expired', async () => {
    const began = time;
    const year = 365 * 24 * 3_600_000;
    time = began + year + WEEK_MS - 1;
    expect((await ship(batches())).statusCode).toBe(200);
    time = began + year + WEEK_MS;
    expect((await ship(batches())).statusCode).toBe(401);
    time = began;
  });
});

/** A data plane of another tenant: a key that is good, but not here. */
async function joinElsewhere() {
  const own = { admin, tenantId };
  const { token: other, scope } = await aTenantAdmin();
  ({ admin, tenantId } = { admin: other, tenantId: scope.tenantId });
  const joined = await join();
  ({ admin, tenantId } = own);
  return joined;
}

describe('back-pressure', () => {
  const batch = () => encodeBatch(plane.batch(0));
  const registry = new Registry();
  /** The tenant is a header here; ingest answers when the test lets it. */
  let release: (() => void)[] = [];
  const app = Fastify().withTypeProvider<ZodTypeProvider>();
  app.setSerializerCompiler(serializerCompiler);
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.decorateRequest('dataPlane', {
    getter() {
      const tenantId = String(this.headers['x-tenant']);
      return { tenantId, tokenId: '', deploymentId: null, region: '', hasEnded: false };
    },
  });
  app.setErrorHandler((error, _, reply) => {
    const { status = 500, detail = String(error) } = error as AppError;
    void reply.code(status).send({ detail });
  });
  void app.register(
    auditBatchRoutes({
      registry,
      limits: {
        inWork: { total: 3, perTenant: 2, perSender: 2 },
        bytes: { total: 20_000, perTenant: 15_000, perSender: 15_000 },
      },
      ingest: {
        ingestBatch: async (_, stream, { header }) => {
          await new Promise<void>((resolve) => release.push(resolve));
          if (header.epoch === 99) throw new AppError('UNAVAILABLE');
          return { status: 'accepted', stream, epoch: 1, last_seq: 1, head: '' };
        },
      },
    }),
  );
  afterAll(() => app.close());
  const post = (tenant: string, payload: Buffer = batch()) =>
    app.inject({
      method: 'POST',
      url: `/api/v1/data-planes/${plane.deploymentId}/audit-batches`,
      headers: { 'content-type': NDJSON, 'x-tenant': tenant },
      payload,
    });
  const until = async (waiting: number) => {
    while (release.length < waiting) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const answerAll = () => {
    for (const one of release.splice(0)) one();
  };
  beforeEach(() => {
    release = [];
  });

  it('sends away what is too much for one tenant, and for all, for 1 to 5 s', async () => {
    const first = [post('a'), post('a')];
    await until(2);
    const tooMuch = await post('a');
    expect(tooMuch.statusCode).toBe(503);
    expect(tooMuch.json()).toEqual({ detail: expect.any(String) });
    expect(Number(tooMuch.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(tooMuch.headers['retry-after'])).toBeLessThanOrEqual(5);
    const second = post('b');
    await until(3);
    expect((await post('c')).statusCode).toBe(503);
    answerAll();
    for (const answer of await Promise.all([...first, second])) expect(answer.statusCode).toBe(200);
    const metric = registry.getSingleMetric('governance_ingest_rejected_batches_total');
    expect((await metric?.get())?.values).toMatchObject([{ labels: { reason: 'busy' }, value: 2 }]);

    const after = post('a');
    await until(1);
    answerAll();
    expect((await after).statusCode).toBe(200);
  });

  it('holds no more bytes than it may, and gives them back however it ends', async () => {
    const large = Buffer.concat([batch(), Buffer.alloc(9_000, '\n')]);
    for (let round = 0; round < 3; round++) {
      const one = post('a', Buffer.concat([batch(), Buffer.from(`\n${'x'.repeat(8_000)}`)]));
      await until(1);
      expect((await post('a', large)).statusCode).toBe(503);
      answerAll();
      expect((await one).statusCode).toBe(200);
      // Refused for its form: its bytes are free again.
      expect((await post('a', Buffer.alloc(9_000, 'x'))).statusCode).toBe(422);
    }
  });
});
