/**
 * Requests that match no route: an existing path with an unsupported method gets a 405 that lists
 * its methods, or the answer to OPTIONS; any other path gets a 404. Answered before a body is read,
 * whichever plane the path belongs to.
 */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route that only refuses, with its own message: its methods do not count for the path. */
    refusesMethod?: true;
    /** How clients of this route, and of all below a folder, read that they ask for none. */
    refusalForm?: RefusalForm;
  }
}

export interface RefusalForm {
  /** The path of the folder. */
  folder: string;
  /** Members of the body, beside `detail`. */
  members: (code: UnmatchedCode, detail: string) => Record<string, unknown>;
}

export type UnmatchedCode = 'NOT_FOUND' | 'METHOD_NOT_ALLOWED';

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
  const forms = new Map<string, RefusalForm>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const { refusesMethod, refusalForm }: FastifyContextConfig = config ?? {};
    // The CORS plugin's, at every path; and routes that exist to answer 405 themselves.
    if (url === '*' || refusesMethod) return;
    if (refusalForm) forms.set(refusalForm.folder, refusalForm);
    const pattern = patterns.get(url) ?? parsePattern(url);
    for (const one of [method].flat()) pattern.methods.add(one.toUpperCase());
    patterns.set(url, pattern);
  });

  function answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = pathOf(request);
    const methods = methodsAt(path, patterns.values());
    if (methods.size === 0) return refuse(path, reply, 'NOT_FOUND');
    reply.header('allow', [...new Set([...methods, 'OPTIONS'])].sort().join(', '));
    if (request.method === 'OPTIONS') return reply.code(204).send();
    return refuse(path, reply, 'METHOD_NOT_ALLOWED');
  }

  function refuse(path: readonly string[], reply: FastifyReply, code: UnmatchedCode): FastifyReply {
    const [status, detail] = ERRORS[code];
    const form = [...forms.values()].find(({ folder }) => isBelow(path, folder));
    return reply.code(status).send({ detail, ...form?.members(code, detail) });
  }

  // A scope of its own, so that only these requests pay for its hook.
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => answer(request, reply));
    // The hook has answered, unless a route was found that then has nothing: a file that is missing.
    scope.setNotFoundHandler((request, reply) => refuse(pathOf(request), reply, 'NOT_FOUND'));
  });
  return answer;
}

const isBelow = (path: readonly string[], folder: string): boolean =>
  folder.split('/').every((segment, index) => segment === path[index]);

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
