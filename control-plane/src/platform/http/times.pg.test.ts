/**
 * An offset can lead a valid ISO 8601 text out of the years 1 to 9999. Every time that an
 * administrator may send, found in the OpenAPI document, refuses that: stored, it would make each
 * list that holds its row a 500.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';
import { QueryTime } from './schemas.ts';

const OUTSIDE = ['9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+00:01', '0000-06-01T00:00:00Z'];

it.each(OUTSIDE)('refuses %s', (text) => {
  expect(QueryTime.safeParse(text).success).toBe(false);
});

beforeAll(() => vi.stubEnv('TZ', 'Asia/Kolkata'));
afterAll(() => vi.unstubAllEnvs());

it.each([
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59-00:00', '9999-12-31T23:59:59.000Z'],
  ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01T00:00:00', '2026-01-01T00:00:00.000Z'],
  ['2026-07-01T00:00', '2026-07-01T00:00:00.000Z'],
  ['2026-07-01T00:00:00.123456', '2026-07-01T00:00:00.123Z'],
])('reads %s as %s', (text, read) => {
  expect(QueryTime.parse(text).toISOString()).toBe(read);
});

interface Property {
  format?: string;
}
interface Operation {
  parameters?: { in: string; name: string; schema: Property }[];
  requestBody?: {
    content: Record<string, { schema: { properties?: Record<string, Property> } }>;
  };
}

const { call, controlPlane, aTenantAdmin } = await testControlPlane();
const { token } = await aTenantAdmin();
const { paths } = (await call('/docs/json')).json() as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = controlPlane.routes
  .filter(({ guard }) => guard === 'admin' || guard === 'tenant-admin')
  .map(({ method, url }) => ({
    ...{ method: method as NonNullable<CallOptions['method']>, url },
    operation: paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {},
  }));
const isTime = (property: Property) => property.format === 'date-time';

const queries = operations.flatMap(({ method, url, operation }) =>
  (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && isTime(parameter.schema))
    .map(({ name }) => ({ method, url, name })),
);
const bodies = operations.flatMap(({ method, url, operation }) =>
  Object.entries(operation.requestBody?.content['application/json']?.schema.properties ?? {})
    .filter(([, property]) => isTime(property))
    .map(([name]) => ({ method, url, name })),
);

describe.each(OUTSIDE)('%s', (time) => {
  it('has places to go to', () => {
    expect(queries.length).toBeGreaterThan(5);
    expect(bodies.length).toBeGreaterThanOrEqual(4);
  });

  it.each(queries)('in the query $name of $method $url is refused', async ({ url, name }) => {
    const answer = await call(`${url}?${name}=${encodeURIComponent(time)}`, { token });
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().detail).toContain(`query.${name}: must be a time of the years 1 to 9999`);
  });

  it.each(bodies)('in the field $name of $method $url is refused', async (given) => {
    const { method, url, name } = given;
    const path = url.replace(/:\w+/g, crypto.randomUUID());
    const answer = await call(path, { token, method, body: { [name]: time } });
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().errors).toContainEqual(
      expect.objectContaining({ loc: ['body', name], msg: expect.stringMatching(/1 to 9999/) }),
    );
  });
});
