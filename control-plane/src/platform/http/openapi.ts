/** /docs and its OpenAPI document, made from the schemas that validate. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { GuardName } from './route-table.ts';
import { ErrorBody } from './schemas.ts';

const SECURITY: Record<GuardName, Record<string, string[]>[]> = {
  public: [],
  admin: [{ adminToken: [] }],
  'admin-or-platform': [{ adminToken: [] }],
  'tenant-admin': [{ adminToken: [] }],
  'super-admin': [{ adminToken: [] }],
  'data-plane': [{ dataPlaneToken: [] }],
  'data-plane-backlog': [{ dataPlaneToken: [] }],
  metrics: [{ metricsToken: [] }],
};

const ERROR_TEXTS: Record<string, string> = {
  400: 'The request is malformed.',
  401: 'The token or the credentials are missing, wrong or expired.',
  403: 'This caller may not do that.',
  404: 'Nothing is there, or it is another tenant’s.',
  422: 'A field is missing or wrong.',
  429: 'Too many requests.',
  500: 'Something went wrong; the detail carries the request id.',
};

export async function registerOpenApi(app: FastifyInstance, version: string): Promise<void> {
  const bearer = (description: string) =>
    ({ type: 'http', scheme: 'bearer', description }) as const;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Agent governance service', version },
      components: {
        securitySchemes: {
          adminToken: bearer('From POST /api/v1/auth/admin/login.'),
          dataPlaneToken: bearer(
            'From POST /api/v1/admin/data-plane-tokens, or from a registration made with it.',
          ),
          metricsToken: bearer('SERVICE_METRICS_TOKEN, where it is set.'),
        },
      },
    },
    transform: (document) => {
      const guard = document.route?.config?.guard;
      const { schema, url } = jsonSchemaTransform({
        ...document,
        schema: withErrors(document.schema, guard),
      });
      return { schema: guard ? { ...schema, security: SECURITY[guard] } : schema, url };
    },
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
}

/** Each route's own errors are those of its guard and of what it takes. */
function withErrors(schema: object, guard: GuardName | undefined): object {
  const { response, body, params, querystring } = schema as Record<string, unknown>;
  if (!guard || response === undefined) return schema;
  const statuses = ['500'];
  if (guard !== 'public') statuses.push('401');
  if (guard === 'admin' || guard === 'admin-or-platform') statuses.push('400');
  if (guard.includes('admin')) statuses.push('403');
  if (params) statuses.push('404');
  if (body) statuses.push('400', '422');
  if (querystring) statuses.push('422');
  const errors = Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: ERROR_TEXTS[status],
        content: { 'application/json': { schema: ErrorBody } },
      },
    ]),
  );
  return { ...schema, response: { ...errors, ...(response as object) } };
}
