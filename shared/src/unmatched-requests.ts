/**
 * Requests that match no route: an existing path with an unsupported method gets a 405 that lists
 * its methods, or the answer to OPTIONS; any other path gets a 404. Answered before a body is read,
 * whichever plane the path belongs to.
 */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS } from './errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that only refuses, with its own message: its methods do not count for the path. */
    refusesMethod?: true;
  }
}

interface Pattern {
  /** Segments of the path; undefined is a parameter, which the router allows to be empty. */
  segments: (string | undefined)[];
  /** A wildcard at its end takes any further segments. */
  isOpen: boolean;
  methods: Set<string>;
}

/**
 * Makes a server answer them. Call it before any route is registered: earlier routes are unknown to
 * it.
 *
 * @returns answers a request as one that matches no route
 */
export function answerUnmatched(
  app: FastifyInstance,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  const patterns = new Map<string, Pattern>();
  app.addHook('onRoute', ({ url, method, config }) => {
    // The CORS plugin's, at every path; and routes that exist to answer 405 themselves.
    if (url === '*' || (config as FastifyContextConfig | undefined)?.refusesMethod) return;
    const pattern = patterns.get(url) ?? parsePattern(url);
    for (const one of [method].flat()) pattern.methods.add(one.toUpperCase());
    patterns.set(url, pattern);
  });
  const answerOne = (request: FastifyRequest, reply: FastifyReply) =>
    answer(request, reply, methodsAt(pathOf(request), patterns.values()));
  // A scope of its own, so that only these requests pay for its hook.
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => answerOne(request, reply));
    // The hook has answered, unless a route was found that then has nothing: a file that is missing.
    scope.setNotFoundHandler((_request, reply) => notFound(reply));
  });
  return answerOne;
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: ReadonlySet<string>,
): FastifyReply {
  if (methods.size === 0) return notFound(reply);
  reply.header('allow', [...new Set([...methods, 'OPTIONS'])].sort().join(', '));
  if (request.method === 'OPTIONS') return reply.code(204).send();
  return reply.code(405).send({ detail: ERRORS.METHOD_NOT_ALLOWED[1] });
}

const notFound = (reply: FastifyReply) => reply.code(404).send({ detail: ERRORS.NOT_FOUND[1] });

function parsePattern(url: string): Pattern {
  const parts = url.split('/');
  const isOpen = parts.at(-1) === '*';
  const segments = (isOpen ? parts.slice(0, -1) : parts).map((part) =>
    part.startsWith(':') ? undefined : part,
  );
  return { segments, isOpen, methods: new Set() };
}

/** caller-controlled */
function pathOf({ url }: FastifyRequest): string[] {
  const path = url.split('?', 1)[0] ?? '';
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

function methodsAt(path: readonly string[], patterns: Iterable<Pattern>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { segments, isOpen, methods } of patterns) {
    const isLongEnough = isOpen ? path.length > segments.length : path.length === segments.length;
    const isHere = segments.every(
      (segment, index) => segment === undefined || segment === path[index],
    );
    if (isLongEnough && isHere) for (const method of methods) found.add(method);
  }
  return found;
}
