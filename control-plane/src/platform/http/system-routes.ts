/** Health, readiness and metrics, for operators and their monitoring. */

import { AppError } from '@governance/shared/errors';
import { withoutTenants } from '@governance/shared/http/metrics-text';
import { inTime } from '@governance/shared/time/in-time';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { Registry } from 'prom-client';
import { z } from 'zod';

/** A dependency that the service cannot work without. */
export interface ReadinessCheck {
  name: string;
  /** Resolves when it is available; throws or rejects when it is not. */
  check(): Promise<void>;
}

/** Problems that need attention although the service works, by name; public, like /health. */
export type ReadinessWarnings = () => Record<string, string>;

/** Members that a part of the service adds to /health. */
export type HealthDetails = () => Promise<Record<string, string>>;

export interface SystemRoutesDeps {
  version: string;
  readiness: ReadinessCheck[];
  warnings?: (() => Promise<ReturnType<ReadinessWarnings>>) | undefined;
  /** Additions to /health. Public: they hold no names and no addresses. */
  health?: HealthDetails | undefined;
  /** All that /metrics shows; standalone adds the data plane's. */
  metrics: Registry[];
  /** Whether /metrics may name tenants: only where it requires a token. */
  namesTenants: boolean;
}

const READY_TIMEOUT_MS = 5_000;

const Readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  checks: z.record(z.string(), z.enum(['ok', 'failed'])),
  /** Problems that need attention; the service is ready all the same. */
  warnings: z.record(z.string(), z.string()).optional(),
});

export const systemRoutes =
  (deps: SystemRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/health',
      {
        config: { guard: 'public' },
        exposeHeadRoute: true,
        logLevel: 'warn',
        schema: {
          summary: 'Whether the process answers',
          tags: ['system'],
          response: {
            200: z
              .object({ status: z.string(), service: z.string(), version: z.string() })
              .catchall(z.string()),
          },
        },
      },
      async () => ({
        status: 'ok',
        service: 'agent-governance',
        version: deps.version,
        ...(await deps.health?.()),
      }),
    );

    app.get(
      '/ready',
      {
        config: { guard: 'public' },
        exposeHeadRoute: true,
        logLevel: 'warn',
        schema: {
          summary: 'Whether the service can do its work',
          tags: ['system'],
          response: { 200: Readiness, 503: Readiness },
        },
      },
      async (request, reply) => {
        const results = await Promise.all(
          deps.readiness.map(async ({ name, check }) => {
            try {
              await inTime(check(), READY_TIMEOUT_MS, unavailable);
              return [name, 'ok'] as const;
            } catch (error) {
              request.log.warn({ err: error, check: name }, 'not ready');
              return [name, 'failed'] as const;
            }
          }),
        );
        const isReady = results.every(([, result]) => result === 'ok');
        const checks = Object.fromEntries(results);
        const warnings = (await deps.warnings?.()) ?? {};
        const shownWarnings = Object.keys(warnings).length > 0 && { warnings };
        return isReady
          ? reply.code(200).send({ status: 'ready', checks, ...shownWarnings })
          : reply.code(503).send({ status: 'not_ready', checks, ...shownWarnings });
      },
    );

    app.get(
      '/metrics',
      {
        config: { guard: 'metrics' },
        logLevel: 'warn',
        schema: {
          summary: 'Metrics in Prometheus text format',
          tags: ['system'],
          produces: ['text/plain'],
          response: { 200: z.string().describe('Prometheus text format.') },
        },
        // The text goes out as it is, not as a JSON string.
        serializerCompiler: () => (text) => text as string,
      },
      async (_request, reply) => {
        reply.header('content-type', Registry.PROMETHEUS_CONTENT_TYPE);
        const text = await Registry.merge(deps.metrics).metrics();
        return deps.namesTenants ? text : withoutTenants(text);
      },
    );
  };

function unavailable(): never {
  throw new AppError('UNAVAILABLE');
}
