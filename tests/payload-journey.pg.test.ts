/**
 * What a call asked for and got, by a service as a user starts it: kept as the tenant's data
 * protection says, sealed on the way, decrypted with a record of who looked.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { freePort, type ServiceProcess, startService } from './support/service-process.ts';

const server = assetPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

let service: ServiceProcess;
let everything: ChildProcess;
let admin: AdminApi;
let client: Client;
let agent: RegisteredAgent;

beforeAll(async () => {
  const port = await freePort();
  everything = spawn(process.execPath, [join(server), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  service = await startService({ env: {} });
  admin = await adminApi(service.url, 'admin', service.adminPassword);
  await registerServer(admin, `http://127.0.0.1:${port}/mcp`, 'all');
  agent = await registerAgent(admin, 'a', await registerRole(admin, 'user', 'all:*'));
  client = await connectSdk(`${service.url}/mcp/v1/all`, {
    ...{ authorization: basicOf(agent), 'x-requester-id': 'user-4711' },
  });
}, 120_000);

afterAll(async () => {
  await client?.close();
  await service?.dispose();
  everything?.kill();
});

interface Event {
  id: string;
  agent_id: string;
  requester_id: string | null;
  protected_fields: string[];
  method: string;
  payload_digest: string | null;
  result_payload_digest: string | null;
}

const seen = new Set<string>();

/** Calls `echo` and gives its event, once its outcome is there. */
async function call(message: string): Promise<Event> {
  await client.callTool({ name: 'echo', arguments: { message, password: 'hunter2' } });
  return vi.waitFor(
    async () => {
      const { events } = await admin.get<{ events: (Event & { outcome: string | null })[] }>(
        '/api/v1/audit/events?policy_result=allow&limit=20',
      );
      const event = events.find(({ id, method }) => method === 'tools/call' && !seen.has(id));
      expect(event?.outcome).toBe('forwarded');
      seen.add(event?.id ?? '');
      return event as Event;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const arrived = (events: number) =>
  vi.waitFor(
    async () => {
      const status = await admin.get('/api/v1/audit/retention-status');
      expect(status).toEqual({ events_with_payload: events, purged_last_24h: 0 });
    },
    { timeout: 20_000, interval: 100 },
  );

it('nothing is kept unless the tenant says so; then it is, as its mode says', async () => {
  expect(await call('one')).toMatchObject({ payload_digest: null, result_payload_digest: null });

  await admin.patch('/api/v1/admin/data-protection', {
    payload_mode: 'encrypted',
    encryption_enabled: true,
    kms_provider: 'local',
    redact_fields: ['password'],
  });
  const event = await call('two');
  expect(event.payload_digest).toMatch(/^[0-9a-f]{64}$/);
  expect(event.result_payload_digest).toMatch(/^[0-9a-f]{64}$/);
  await arrived(1);
  const path = `/api/v1/audit/events/${event.id}/decrypt`;
  const shown = await vi.waitFor(
    async () => {
      const answer = await admin.post<{ decrypted: Record<string, unknown> }>(path, {});
      expect(answer.decrypted).toHaveProperty('result');
      return answer;
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(shown.decrypted).toMatchObject({
    input: {
      agent: { roles: ['user'], permissions: ['all:*'] },
      request: { tool_name: 'echo', parameters: { message: 'two' } },
    },
    result: { content: [{ type: 'text', text: 'Echo: two' }] },
  });
  expect(JSON.stringify(shown)).not.toContain('hunter2');
  await expect(admin.get(`/api/v1/audit/events/${event.id}/payload`)).rejects.toThrow('400');

  await admin.patch('/api/v1/admin/data-protection', {
    payload_mode: 'redacted',
    encryption_enabled: false,
  });
  // Denied for what it holds: what policy would have been asked is kept without it.
  await expect(call('card 4111 1111 1111 1111 of mine')).rejects.toThrow('payment_card');
  await arrived(2);
  const { events } = await admin.get<{ events: Event[] }>('/api/v1/audit/events?limit=20');
  const denied = events.find((one) => one.payload_digest !== null && one.id !== event.id);
  const { payload } = await admin.get<{ payload: unknown }>(
    `/api/v1/audit/events/${denied?.id}/payload`,
  );
  expect(payload).toMatchObject({ input: { request: { tool_name: 'echo' } } });
  expect(JSON.stringify(payload)).toContain('REDACTED');
  expect(JSON.stringify(payload)).not.toContain('4111');

  const verification = await admin.get<{ valid?: boolean; status?: string }>(
    '/api/v1/audit/verify?fresh=true',
  );
  expect(JSON.stringify(verification)).not.toContain('"broken"');
});

it('identifiers are hashed as soon as the tenant says so, and otherwise after a rotation', async () => {
  const hashed = /^hid1:[\w-]{6}:[\w-]{22}$/;
  const set = (body: object) => admin.patch('/api/v1/admin/data-protection', body);
  await set({ payload_mode: 'full', redact_fields: [], hash_identifiers: true });
  const event = await call('of Anna@Corp.example, for user-4711');
  expect(event).toMatchObject({
    agent_id: agent.id,
    requester_id: expect.stringMatching(hashed),
    protected_fields: expect.arrayContaining(['requester_id']),
  });
  const shown = await vi.waitFor(
    async () => {
      const answer = await admin.get<{ payload: Record<string, never> }>(
        `/api/v1/audit/events/${event.id}/payload`,
      );
      expect(answer.payload).toHaveProperty('result');
      return answer.payload;
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(shown).toMatchObject({
    input: {
      agent: { id: expect.stringMatching(hashed), name: expect.stringMatching(hashed) },
      requester: { id: event.requester_id },
    },
  });
  const text = JSON.stringify(shown);
  expect(text).not.toMatch(/user-4711|anna@corp/i);
  expect(text).not.toContain(agent.id);
  const again = await call('again');
  expect(again.requester_id).toBe(event.requester_id);
  await set({ rotate_identifier_key: true });
  const after = await call('after');
  expect(after.requester_id).toMatch(hashed);
  expect(after.requester_id).not.toBe(event.requester_id);
  await set({ hash_identifiers: false });
  expect((await call('off')).requester_id).toBe('user-4711');
  const { alerts } = await admin.get<{ alerts: { alert_type: string }[] }>(
    '/api/v1/monitor/alerts',
  );
  expect(alerts.map(({ alert_type }) => alert_type)).not.toContain('IDENTIFIERS_NOT_HASHED');
});
