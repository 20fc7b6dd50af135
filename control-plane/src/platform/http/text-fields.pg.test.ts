/**
 * PostgreSQL refuses a NUL and JSON text may carry one: every text field of every request, found
 * in the OpenAPI document, is sent one. A field that lets it through would be a 500 later, or a
 * record that stops a queue. Members of a heartbeat that a newer version may write otherwise are not
 * refused for it, and not taken either.
 */
import { NDJSON } from '@governance/shared/channel/channel-routes';
import { Heartbeat } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';

interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  pattern?: string;
  const?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
}
interface Operation {
  parameters?: { in: string; name: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

const { call, controlPlane, aTenantAdmin, superAdminToken } = await testControlPlane();
const { token } = await aTenantAdmin();
const superAdmin = await superAdminToken();
const dataPlane = (
  await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } })
).json().token;
const { paths, components } = (await call('/docs/json')).json() as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
};

const TOKENS: Record<string, string> = {
  admin: token,
  'admin-or-platform': token,
  'tenant-admin': token,
  'super-admin': superAdmin,
  'data-plane': dataPlane,
  'data-plane-backlog': dataPlane,
};

interface TextField {
  path: (string | number)[];
  /** A body with a NUL in that field, and with what tells the kind of its object (a constant). */
  body: unknown;
  /** It is in a member whose schema takes anything else, too. */
  isLenient?: boolean;
}

function follow(schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : follow(components.schemas[name] ?? {});
}

const takesAnything = (schema: JsonSchema) =>
  Object.keys(schema).every((keyword) => keyword === 'description');

function textsOf(given: JsonSchema): TextField[] {
  const schema = follow(given);
  const isLenient = schema.anyOf?.some(takesAnything) ?? false;
  const among = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const isText = [schema.type].flat().includes('string');
  // An id, a time or a word of a list is narrower than a text.
  const isFree = isText && !schema.format && !schema.enum;
  const properties = Object.entries(schema.properties ?? {});
  const constants = Object.fromEntries(
    properties.flatMap(([name, property]) =>
      property.enum?.length === 1 ? [[name, property.enum[0]]] : [],
    ),
  );
  return [
    ...(isFree ? [{ path: [], body: 'a\u0000b' }] : []),
    ...among.flatMap(textsOf).map((text) => (isLenient ? { ...text, isLenient } : text)),
    ...textsOfItems(schema.items),
    ...properties.flatMap(([name, property]) =>
      textsOf(property).map(({ path, body, ...rest }) => ({
        path: [name, ...path],
        body: { ...constants, [name]: body },
        ...rest,
      })),
    ),
  ];
}

function textsOfItems(items: JsonSchema | undefined): TextField[] {
  return items
    ? textsOf(items).map(({ path, body, ...rest }) => ({
        path: [0, ...path],
        body: [body],
        ...rest,
      }))
    : [];
}

const operations = controlPlane.routes
  .filter(({ url }) => !url.startsWith('/docs'))
  .map((route) => {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    const operation = paths[path]?.[route.method.toLowerCase()] ?? {};
    return { ...route, name: `${route.method} ${route.url}`, operation };
  });

const jsonBodyOf = ({ requestBody }: Operation) =>
  requestBody?.content['application/json']?.schema ?? {};
const fields = operations.flatMap(({ name, method, url, guard, operation }) =>
  textsOf(jsonBodyOf(operation)).map(({ path, body, isLenient = false }) => ({
    name,
    method,
    url,
    guard,
    body,
    isLenient,
    field: path.join('.'),
  })),
);
const bodies = fields.filter(({ isLenient }) => !isLenient);
const lenient = fields.filter(({ isLenient }) => isLenient);
const queries = operations.flatMap(({ name, url, guard, operation }) =>
  (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => ({ name, url, guard, parameter: parameter.name })),
);
const withParams = operations.filter(({ url }) => url.includes(':'));

const send = (route: { url: string; guard: string }, options: CallOptions, params = uuidv7()) =>
  call(route.url.replace(/:\w+/g, params), {
    ...(TOKENS[route.guard] ? { token: TOKENS[route.guard] } : {}),
    ...options,
  });

/** A value of the schema, with all its members. */
function sampleOf(given: JsonSchema): unknown {
  const schema = follow(given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const among = schema.anyOf ?? schema.oneOf;
  if (among?.[0]) return sampleOf(among[0]);
  if (schema.items) return [sampleOf(schema.items)];
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const properties = Object.entries(schema.properties ?? {});
      return Object.fromEntries(properties.map(([name, one]) => [name, sampleOf(one)]));
    }
    case 'string':
      if (schema.format === 'uuid') return uuidv7();
      if (schema.format === 'date-time') return new Date().toISOString();
      return schema.pattern?.includes('{64}') ? 'a'.repeat(64) : 'a';
    case 'boolean':
      return true;
    default:
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
  }
}

/** Puts the NUL there. */
function spoil(value: unknown, [key, ...rest]: string[]): unknown {
  if (key === undefined) return 'a\u0000b';
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === Number(key) ? spoil(item, rest) : item));
  }
  return { ...(value as object), [key]: spoil((value as Record<string, unknown>)[key], rest) };
}

describe('a NUL', () => {
  it('has fields to go into', () => {
    expect(lenient.length).toBeGreaterThan(5);
    expect(bodies.length).toBeGreaterThan(30);
    expect(queries.length).toBeGreaterThan(5);
    expect(withParams.length).toBeGreaterThan(10);
  });

  it.each(bodies)('in $field of $name is refused', async ({ field, body, method, ...route }) => {
    // Another word than a key's purpose is a 404 before the body is looked at.
    const url = route.url.replace(':purpose', 'bundle');
    const answer = await send(
      { ...route, url },
      { method: method as NonNullable<CallOptions['method']>, body: body as object },
    );
    expect(answer.statusCode, answer.body).toBe(422);
    const named = answer
      .json()
      .errors.map((error: { loc: unknown[] }) => error.loc.slice(1).join('.'));
    expect(named, answer.body).toContain(field);
  });

  it.each(lenient)('in $field of $name leaves that member out', async (given) => {
    const { name, method, field, ...route } = given;
    expect(name).toBe('POST /api/v1/data-planes/:deployment_id/heartbeat');
    const operation = operations.find((one) => one.name === name)?.operation ?? {};
    const id = uuidv7();
    const good = { ...(sampleOf(jsonBodyOf(operation)) as object), deployment_id: id };
    const bad = spoil(good, field.split('.')) as object;
    const member = field.split('.')[0] as keyof Heartbeat;
    expect(Heartbeat.parse(good)).toHaveProperty(member, good[member as keyof typeof good]);
    expect(Heartbeat.parse(bad)[member]).toBeUndefined();
    const answer = await send(route, { method: method as 'POST', body: bad }, id);
    expect(answer.statusCode, answer.body).toBe(200);
  });

  it.each(queries)('in the query $parameter of $name is refused', async (route) => {
    const answer = await send({ ...route, url: `${route.url}?${route.parameter}=a%00b` }, {});
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it.each(withParams)('in the path of $name finds nothing', async ({ method, ...route }) => {
    const ndjson = { body: '{}', headers: { 'content-type': NDJSON } };
    const json = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const body = route.url.endsWith('/audit-batches') ? ndjson : json;
    const options = { method: method as NonNullable<CallOptions['method']>, ...body };
    for (const value of ['%00', 'a%00b', '%EF%BF%BF', 'x'.repeat(199)]) {
      const answer = await send(route, options, value);
      expect([404, 422], `${value}: ${answer.body}`).toContain(answer.statusCode);
    }
  });
});
