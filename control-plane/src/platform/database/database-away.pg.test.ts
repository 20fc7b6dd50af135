/** The database goes away under the service and comes back: answers say so, nothing has to restart. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpServer } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import { afterAll, expect, it, vi } from 'vitest';
import { createControlPlane, parseControlPlaneConfig } from '../../main.ts';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';

vi.setConfig({ testTimeout: 90_000 });

const dataDir = mkdtempSync(join(tmpdir(), 'away-'));
chmodSync(dataDir, 0o755);
const start = () =>
  startEmbeddedPostgres({ dataDir, log: { info: () => {}, warn: () => {} }, durable: false });
let server = await start();
const log = createLog({ debug: false }, { write: () => {} });
const config = parseControlPlaneConfig({
  DATABASE_URL: server.url,
  SERVICE_DATA_DIR: dataDir,
  SERVICE_ADMIN_PASSWORD: 'a password',
});
const controlPlane = await createControlPlane(config, { log });
const app = createHttpServer({ log, corsOrigins: [] });
await app.register(controlPlane.plugin);
await controlPlane.start();

afterAll(async () => {
  await app.close();
  await controlPlane.stop();
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

const login = () =>
  app.inject({
    method: 'POST',
    url: '/api/v1/auth/admin/login',
    payload: { username: 'admin', password: 'a password' },
  });

it('answers 503 while it is away, and as before when it is back', async () => {
  const token = (await login()).json().access_token;
  const agents = () =>
    app.inject({ url: '/api/v1/agents', headers: { authorization: `Bearer ${token}` } });
  expect((await agents()).statusCode).toBe(200);

  await server.stop();
  for (const ask of [login, agents, () => app.inject('/ready')]) {
    const answer = await ask();
    expect(answer.statusCode, answer.body).toBe(503);
  }
  expect((await agents()).json()).toEqual({
    detail: 'The service cannot answer now: try again.',
  });
  expect((await app.inject('/health')).statusCode).toBe(200);

  server = await start();
  expect((await agents()).statusCode).toBe(200);
  expect((await login()).statusCode).toBe(200);
  expect((await app.inject('/ready')).statusCode).toBe(200);
});
