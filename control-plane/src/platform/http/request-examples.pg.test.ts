import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';
import { REQUEST_EXAMPLES } from './request-examples.ts';

type Paths = Record<
  string,
  Record<string, { requestBody?: { content?: Record<string, { example?: object }> } }>
>;

const { call, aTenantAdmin, superAdminToken } = await testControlPlane();
const { token } = await aTenantAdmin();
const superAdmin = await superAdminToken();

it('each is in the document, and no route refuses it as malformed', async () => {
  const { paths } = (await call('/docs/json')).json() as { paths: Paths };
  const shown = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const example = requestBody?.content?.['application/json']?.example;
      return example ? [[`${method.toUpperCase()} ${path}`, example] as const] : [];
    }),
  );
  expect(new Map(shown)).toEqual(REQUEST_EXAMPLES);
  const refused: unknown[] = [];
  for (const [route, body] of shown) {
    const [method, path = ''] = route.split(' ') as [CallOptions['method'], string];
    const url = path.replaceAll(/\{\w+\}/g, () => uuidv7());
    const bearer = path === '/api/v1/tenants' ? superAdmin : token;
    const { statusCode, json } = await call(url, { method, token: bearer, body });
    if ([400, 415, 422].includes(statusCode)) refused.push([route, statusCode, json()]);
  }
  expect(refused).toEqual([]);
});
