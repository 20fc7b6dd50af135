/**
 * /docs and its OpenAPI document, made from the schemas that validate. route-answers.ts adds the
 * errors that follow from a route's guard and input.
 */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { Id } from '@governance/shared/text';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { REQUEST_EXAMPLES } from './request-examples.ts';
import { rolesFor } from './role-table.ts';
import { withErrors } from './route-answers.ts';
import { findUse, type GuardName } from './route-table.ts';

const SECURITY: Record<GuardName, Record<string, string[]>[]> = {
  public: [],
  admin: [{ adminToken: [] }],
  'admin-or-platform': [{ adminToken: [] }],
  'tenant-admin': [{ adminToken: [] }],
  'super-admin': [{ superAdminToken: [] }],
  'data-plane': [{ dataPlaneToken: [] }],
  'data-plane-backlog': [{ dataPlaneToken: [] }],
  // Open where no token is set (in development).
  metrics: [{ metricsToken: [] }, {}],
};

/** The guards read it; no schema of a route validates it. */
const TenantHeader = z.object({
  'X-Tenant-Id': Id.optional().meta({
    description: 'The tenant that a super-admin acts in. An administrator’s own, or none.',
  }),
});

export async function registerOpenApi(app: FastifyInstance, version: string): Promise<void> {
  const bearer = (description: string) =>
    ({ type: 'http', scheme: 'bearer', description }) as const;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Agent governance service', version },
      components: {
        securitySchemes: {
          adminToken: bearer(
            'An administrator’s, from POST /api/v1/auth/admin/login; or a super-admin’s, with X-Tenant-Id.',
          ),
          superAdminToken: bearer('A super-admin’s, from POST /api/v1/auth/admin/login.'),
          dataPlaneToken: bearer(
            'From POST /api/v1/admin/data-plane-tokens, or from a registration made with it.',
          ),
          metricsToken: bearer('SERVICE_METRICS_TOKEN, where it is set.'),
        },
      },
    },
    transform: (document) => {
      const guard = document.route?.config?.guard;
      if (!guard) return jsonSchemaTransform(document);
      const { schema, url } = jsonSchemaTransform({
        ...document,
        schema: withErrors(withTenantHeader(document.schema, guard), document.route.method, guard),
      });
      const use = findUse(guard, document.route.config?.use);
      const described = {
        ...schema,
        security: SECURITY[guard],
        ...(use && { 'x-roles': rolesFor(use) }),
      };
      return { schema: withRawBody(described), url };
    },
    transformObject: (document) => {
      const described = jsonSchemaTransformObject(document);
      for (const [path, operations] of Object.entries(described.paths ?? {})) {
        for (const [method, operation] of Object.entries(operations as object)) {
          operation.operationId = operationIdOf(method, path);
          markOptionalBody(operation);
          addExample(operation, REQUEST_EXAMPLES.get(`${method.toUpperCase()} ${path}`));
        }
      }
      return described;
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Over http, from another machine, a browser would look for the page's scripts at https.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
  });
}

/** A name for generated clients: `getAgentsById`. A path says what it is, so that none changes. */
function operationIdOf(method: string, path: string): string {
  const parts = path.replace(/^\/api\/v1\b/, '').split('/');
  const words = parts.map((part) =>
    part
      .replace(/^\{(.*)\}$/, 'by-$1')
      .split(/[^A-Za-z0-9]+/)
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join(''),
  );
  return `${method}${words.join('') || 'Root'}`;
}

function withTenantHeader(schema: object, guard: GuardName): object {
  const isRead = guard === 'admin' || guard === 'admin-or-platform' || guard === 'tenant-admin';
  return isRead ? { ...schema, headers: TenantHeader } : schema;
}

/** No schema validates this body: its route reads the bytes. */
function withRawBody(schema: object): object {
  const { body, consumes } = schema as { body?: unknown; consumes?: unknown };
  return consumes === undefined || body !== undefined
    ? schema
    : { ...schema, body: { type: 'string', description: 'Read as it is.' } };
}

function addExample(
  { requestBody }: { requestBody?: { content?: Record<string, { example?: object }> } },
  example: object | undefined,
): void {
  const json = requestBody?.content?.['application/json'];
  if (json && example) json.example = example;
}

/** The plugin marks each body as required; one that may be null is optional. */
function markOptionalBody(operation: {
  requestBody?: { required?: boolean; content?: Record<string, { schema?: object }> };
}): void {
  const { requestBody } = operation;
  const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema ?? {});
  const mayBeNull = schemas.some((schema) =>
    ((schema as { anyOf?: { type?: unknown }[] }).anyOf ?? []).some(({ type }) => type === 'null'),
  );
  if (requestBody && mayBeNull) requestBody.required = false;
}
