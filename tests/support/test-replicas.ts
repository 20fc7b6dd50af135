/** Production replicas of the control plane, each with its own pools, on one database. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import {
  buildControlPlane,
  type ControlPlane,
  type ControlPlaneDeps,
  FEATURES,
} from '@governance/control-plane/app';
import { parseControlPlaneConfig } from '@governance/control-plane/config';
import { connectDatabase } from '@governance/control-plane/platform/database/database';
import { createHttpServer } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import { Secret } from '@governance/shared/settings';
import { afterAll } from 'vitest';
import { type TestDatabase, testDatabase } from './test-database.ts';

export interface TestReplica {
  /** Where it listens. */
  url: string;
  controlPlane: ControlPlane;
  /** A request with JSON; a body makes it a POST unless `method` says otherwise. */
  call(
    path: string,
    options?: { method?: string; token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
  /** Ends it as stopping its process does; otherwise the end of the file does. */
  stop(): Promise<void>;
}

export interface TestReplicas {
  test: TestDatabase;
  /** Starts another replica. */
  start(given?: Given): Promise<TestReplica>;
}

type Given = Pick<ControlPlaneDeps, 'keyProviders'>;

/** Call it at the top of a test file; it cleans up after the file's last test. */
export async function testReplicas(env: NodeJS.ProcessEnv = {}): Promise<TestReplicas> {
  const test = await testDatabase();
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const shared = {
    SERVICE_PUBLIC_URL: 'https://governance.example',
    SERVICE_ADMIN_PASSWORD: 'the administrator’s password',
    SERVICE_MASTER_KEY: randomBytes(32).toString('base64'),
    SERVICE_JWT_PRIVATE_KEY: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    SERVICE_JWT_PUBLIC_KEY: keys.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    ...env,
  };
  const running = new Set<TestReplica>();
  afterAll(async () => {
    for (const replica of running) await replica.stop();
  });
  return {
    test,
    start: async (given = {}) => {
      const replica = await startReplica(test, shared, given, () => running.delete(replica));
      running.add(replica);
      return replica;
    },
  };
}

async function startReplica(
  test: TestDatabase,
  env: NodeJS.ProcessEnv,
  given: Given,
  onStop: () => void,
): Promise<TestReplica> {
  const config = parseControlPlaneConfig(env);
  const log = createLog({ debug: false }, { write: () => {} });
  const connections = await connectDatabase({
    url: test.url,
    poolSize: 4,
    maxOverflow: 4,
    onConnectionError: () => {},
  });
  const controlPlane = await buildControlPlane(
    {
      config,
      connections,
      masterKey: config.masterKey ?? new Secret(randomBytes(32)),
      adminPassword: config.adminPassword ?? new Secret('none'),
      log,
      ...given,
    },
    FEATURES,
  );
  const app = createHttpServer({ log, corsOrigins: config.corsOrigins });
  await app.register(controlPlane.plugin);
  await controlPlane.start();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    controlPlane,
    call: (path, { method, token, body, headers } = {}) =>
      fetch(`${url}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    stop: async () => {
      onStop();
      await app.close();
      await controlPlane.stop();
      await connections.close();
    },
  };
}
