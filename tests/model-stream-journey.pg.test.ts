/**
 * A model streams its answer through a data plane elsewhere: while the stream is open, the audit
 * stream and the list of events at the control plane have the runtime's status.
 */
import { Ollama } from 'ollama';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  startTestModelRuntime,
  type TestModelRuntime,
} from '../data-plane/src/testing/test-model-runtime.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  issueDataPlaneToken,
  registerAgent,
  registerRole,
} from './support/admin-setup.ts';
import { type EventReader, readEvents } from './support/event-reader.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 90_000 });

const database = await testDatabase();
let models: TestModelRuntime;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let admin: AdminApi;
let reader: EventReader;
let authorization: string;

beforeAll(async () => {
  models = await startTestModelRuntime();
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      ...tokenKeyPems(),
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  const roleId = await registerRole(admin, 'models', 'web:read', 'web:write');
  const agent = await registerAgent(admin, 'reader', roleId);
  plane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: controlPlane.url,
      SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
      SERVICE_LOCALMODEL_URL: models.url,
    },
  });
  const answer = await fetch(`${plane.url}/api/v1/auth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: { authorization: basicOf(agent) },
  });
  authorization = `Bearer ${((await answer.json()) as { access_token: string }).access_token}`;
  reader = readEvents(`${controlPlane.url}/api/v1/audit/stream`, admin.token);
  await vi.waitFor(() => expect(reader.connections()).toBe(1), { timeout: 20_000 });
}, 120_000);

afterAll(async () => {
  await reader?.stop();
  models?.release();
  await plane?.dispose();
  await controlPlane?.dispose();
  await models?.stop();
});

interface ModelEvent {
  id: string;
  mcp_server: string;
  outcome: string | null;
  model_usage: unknown;
}

async function listed(): Promise<ModelEvent[]> {
  const { events } = await admin.get<{ events: ModelEvent[] }>('/api/v1/audit/events');
  return events.filter(({ mcp_server }) => mcp_server === 'localmodel-proxy');
}

const published = (): ModelEvent[] =>
  reader.events
    .map((data): ModelEvent => JSON.parse(data))
    .filter(({ mcp_server }) => mcp_server === 'localmodel-proxy');

it('shows the status while the stream is open, and the counts behind it', async () => {
  const client = new Ollama({
    host: `${plane.url}/api/v1/localmodel`,
    headers: { authorization },
  });
  const messages = [{ role: 'user', content: 'hello' }];
  const stream = await client.chat({ model: 'held', messages, stream: true });
  const parts = stream[Symbol.asyncIterator]();
  await parts.next();
  const started = { status: 200, input_tokens: null, output_tokens: null, finish_reason: null };
  await vi.waitFor(
    () =>
      expect(published()).toMatchObject([
        { model_usage: null, outcome: null },
        { model_usage: started, outcome: null },
      ]),
    { timeout: 30_000, interval: 50 },
  );
  const [first, second] = published();
  expect(second?.id).toBe(first?.id);
  expect(await listed()).toMatchObject([{ id: first?.id, model_usage: started, outcome: null }]);

  models.release();
  let last: unknown;
  for (let part = await parts.next(); !part.done; part = await parts.next()) last = part.value;
  expect(last).toMatchObject({ done: true });
  const usage = { status: 200, input_tokens: 11, output_tokens: 5, finish_reason: 'stop' };
  await vi.waitFor(
    async () =>
      expect(await listed()).toMatchObject([
        { id: first?.id, model_usage: usage, outcome: 'forwarded' },
      ]),
    { timeout: 30_000, interval: 50 },
  );
});
