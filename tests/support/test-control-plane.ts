/** The production control plane on its own database, driven by `app.inject`. */
import { randomBytes } from 'node:crypto';
import {
  buildControlPlane,
  type ControlPlane,
  FEATURES,
  type FeatureMaker,
} from '@governance/control-plane/app';
import { parseControlPlaneConfig } from '@governance/control-plane/config';
import type { AdminRole } from '@governance/control-plane/platform/admin-role';
import type { TenantScope } from '@governance/control-plane/platform/database/tenant-scope';
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { createHttpServer } from '@governance/shared/http/http-server';
import { uuidv7 } from '@governance/shared/ids';
import { createLog } from '@governance/shared/process/log';
import { Secret } from '@governance/shared/settings';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll } from 'vitest';
import { aTenant } from './a-tenant.ts';
import { createTestCompiler } from './compiled-once.ts';
import { watchAnswers } from './documented-answers.ts';
import { type TestDatabase, testDatabase } from './test-database.ts';

export const ADMIN_PASSWORD = 'the administrator’s password';
export const SUPER_ADMIN_PASSWORD = 'the super-admin’s password';

export interface TestControlPlane {
  app: FastifyInstance;
  controlPlane: ControlPlane;
  test: TestDatabase;
  /** Every log line. */
  logged: string[];
  /** A request; a body makes it a POST with JSON unless `method` says otherwise. */
  call(url: string, options?: CallOptions): Promise<LightMyRequestResponse>;
  /** A new tenant, its administrator's scope and token. */
  aTenantAdmin(): Promise<{ scope: TenantScope; token: string }>;
  /** Another user of a tenant, with an unknown password. */
  aColleague(scope: TenantScope, role: AdminRole): Promise<{ scope: TenantScope; token: string }>;
  superAdminToken(): Promise<string>;
}

export interface CallOptions {
  method?: InjectOptions['method'];
  token?: string;
  body?: InjectOptions['payload'];
  headers?: Record<string, string>;
  /** The caller's address; 127.0.0.1 unless given. */
  remoteAddress?: string;
}

export interface TestControlPlaneOptions {
  env?: NodeJS.ProcessEnv;
  now?: () => Date;
  applied?: AppliedBarrier;
  listStdioNames?: (tenantId: string) => readonly string[] | undefined;
  /** Appended to those of production. */
  features?: readonly FeatureMaker[];
  /** Runs before the control plane is created: a feature's own migration. */
  prepare?: (test: TestDatabase) => Promise<void>;
}

/** Call it at the top of a test file; it cleans up after the file's last test. */
export async function testControlPlane(
  options: TestControlPlaneOptions = {},
): Promise<TestControlPlane> {
  const now = options.now ?? (() => new Date());
  const test = await testDatabase(now);
  await options.prepare?.(test);
  const logged: string[] = [];
  const log = createLog({ debug: true }, { write: (line: string) => void logged.push(line) });
  const config = parseControlPlaneConfig({
    SERVICE_SUPER_ADMIN_PASSWORD: SUPER_ADMIN_PASSWORD,
    SERVICE_PUBLIC_URL: 'https://governance.example',
    ...options.env,
  });
  const controlPlane = await buildControlPlane(
    {
      config,
      connections: test.connections,
      masterKey: config.masterKey ?? new Secret(randomBytes(32)),
      adminPassword: config.adminPassword ?? new Secret(ADMIN_PASSWORD),
      log,
      ...(options.now && { now }),
      compiler: createTestCompiler(),
      ...(options.applied ? { applied: options.applied } : {}),
      ...(options.listStdioNames ? { listStdioNames: options.listStdioNames } : {}),
    },
    [...FEATURES, ...(options.features ?? [])],
  );
  const app = createHttpServer({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
  });
  const beginWatch = watchAnswers(app);
  await app.register(controlPlane.plugin);
  await controlPlane.start();
  await app.ready();
  const requireDocumented = await beginWatch();
  afterAll(async () => {
    await app.close();
    await controlPlane.stop();
    requireDocumented();
  });

  return {
    app,
    controlPlane,
    test,
    logged,
    call: (url, { method, token, body, headers, remoteAddress } = {}) =>
      app.inject({
        url,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
        ...(body === undefined ? {} : { payload: body }),
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
      }),
    aTenantAdmin: async () => {
      const scope = await aTenant(test);
      const { id, username } = scope.actor;
      const { tenantId } = scope;
      const account = { role: 'admin', id, username, tenantId, version: '1' } as const;
      return { scope, token: await controlPlane.adminTokens.issue(account) };
    },
    aColleague: async ({ tenantId }, role) => {
      const id = uuidv7();
      const username = `${role}-${id}`;
      const account = { role, id, username, tenantId, version: '1' };
      await test.superuser.query(
        `INSERT INTO administrators (tenant_id, id, username, password_hash, role)
         VALUES ($1, $2, $3, '-', $4)`,
        [tenantId, id, username, role],
      );
      const token = await controlPlane.adminTokens.issue(account);
      return { scope: { tenantId, actor: { id, username, role } }, token };
    },
    superAdminToken: async () => {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v1/auth/admin/login',
        payload: { username: 'superadmin', password: SUPER_ADMIN_PASSWORD },
      });
      return answer.json().access_token;
    },
  };
}
