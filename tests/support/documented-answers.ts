/**
 * Checks that the OpenAPI document names every answer that a test gets from the control plane:
 * status and content type. An undocumented answer fails the file that received it.
 */
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';

interface Operation {
  responses: Record<string, { content?: Record<string, unknown> }>;
}

/**
 * Call it before routes are registered.
 *
 * @returns a function that starts watching once the server is ready; it returns the check to run
 * after
 * the tests
 */
export function watchAnswers(app: FastifyInstance): () => Promise<() => void> {
  const seen = new Set<string>();
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const { url, config } = routeOptions;
    // It leaves out the documentation's own pages, and the HEAD twins of GETs.
    if (url === undefined || config.guard === undefined || method === 'HEAD') return;
    const type = String(reply.getHeader('content-type') ?? '').split(';')[0] ?? '';
    seen.add([method, url, reply.statusCode, type].join(' '));
  });
  return async () => {
    const document = (await app.inject('/docs/json')).json();
    return () => requireDocumented(seen, document.paths);
  };
}

function requireDocumented(
  seen: ReadonlySet<string>,
  paths: Record<string, Record<string, Operation>>,
): void {
  const undocumented = [...seen].filter((answer) => {
    const [method = '', url = '', status = '', type = ''] = answer.split(' ');
    const path = url.replace(/:(\w+)/g, '{$1}');
    const documented = paths[path]?.[method.toLowerCase()]?.responses[status];
    const types = Object.keys(documented?.content ?? {});
    return !documented || (type !== '' && !types.includes(type));
  });
  expect(undocumented, 'answers that the OpenAPI document does not name').toEqual([]);
}
