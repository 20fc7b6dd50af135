/**
 * Leads the local model runtime through the enforcement of every call (specification 2,
 * "Local-model proxy").
 */
import { AppError } from '@governance/shared/errors';
import type { RefusalForm } from '@governance/shared/http/unmatched-requests';
import type {
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
} from 'fastify';
import type { Destination } from '../enforcement/call/calls.ts';
import { type Enforcer, quiet } from '../enforcement/enforcer.ts';
import { type ArrivalDeps, enter } from '../gateway/arrival.ts';
import { readCallerBodies } from '../gateway/caller-bodies.ts';
import { ineligibleError } from '../gateway/failures.ts';
import { type FairShares, shareAccount } from '../upstream/shares/fair-shares.ts';
import {
  listsModels,
  MODEL_APIS,
  MODEL_PREFIX,
  type ModelApi,
  type ModelStyle,
  STYLE_FOLDERS,
} from './model-apis.ts';
import { answerError, errorMember } from './model-errors.ts';
import { ModelReply } from './model-reply.ts';
import { askModel, parseModelBody, readQuery, sentToRuntime } from './model-request.ts';
import type { ModelRuntime } from './model-runtime.ts';

export interface ModelRoutesDeps extends Pick<ArrivalDeps, 'door' | 'origins'> {
  enforcer: Pick<Enforcer, 'call'>;
  runtime: Pick<ModelRuntime, 'ask'>;
  shares: Pick<FairShares, 'take' | 'give'>;
  /** Bytes of a request's body, at most. */
  bodyBytes: number;
  /** Values and keys of a body, at most. */
  bodyNodes: number;
}

/** The name under which all requests to the runtime share their limits. */
const WAY = 'local models';

/** Builds the plugin, a scope of its own. */
export function modelRoutes(deps: ModelRoutesDeps): FastifyPluginAsync {
  return async (app) => {
    readCallerBodies(app, '*', deps.bodyBytes);
    app.addHook('onRequest', async (request, reply) => {
      reply.header('x-request-id', request.id);
    });
    for (const api of MODEL_APIS) {
      app.route({
        method: listsModels(api) ? ['GET', 'POST'] : 'POST',
        url: `${MODEL_PREFIX}${api.path}`,
        onRequest: [requireToken, enter(deps)],
        handler: (request, reply) => serve(api, request, reply, deps),
        errorHandler: (error, request, reply) => answerError(error, api.style, request, reply),
        exposeHeadRoute: false,
        config: { refusalForm: refusalForm(api.style) },
      });
    }
  };
}

const refusalForm = (style: ModelStyle): RefusalForm => ({
  folder: `${MODEL_PREFIX}${STYLE_FOLDERS[style]}`,
  members: (code, detail) => ({ error: errorMember(style, code, detail) }),
});

/** Client secrets are for MCP clients; only a token is accepted here. */
const requireToken: onRequestHookHandler = (request, _reply, done) => {
  const isToken = /^bearer /i.test((request.headers.authorization ?? '').slice(0, 16));
  done(isToken ? undefined : new AppError('UNAUTHENTICATED'));
};

async function serve(
  api: ModelApi,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ModelRoutesDeps,
): Promise<FastifyReply> {
  const { caller, denied } = request;
  if (denied !== null) throw ineligibleError(denied, 403);
  if (caller === null) throw new Error('the route was reached without a caller');
  const query = readQuery(request.url);
  const body = parseModelBody(api, request.body as Buffer | undefined, deps.bodyNodes);
  const client = new ModelReply(reply);
  const exchange = quiet();
  reply.raw.once('close', () => exchange.cancellation.cancel());
  // The client left while its body waited for its turn: that event came before.
  if (reply.raw.destroyed) exchange.cancellation.cancel();
  const destination = runtimeDestination(api, client, deps);
  const ask = askModel(api, body, query);
  const answer = await deps.enforcer.call(caller, ask, destination, exchange);
  if (answer.kind === 'refusal') return answerError(answer, api.style, request, reply);
  // Passed on already, or the client has left.
  if (!client.isBegun) {
    reply.hijack();
    client.cut();
  }
  return reply;
}

/** The runtime as the destination of a call: its answer is streamed to the client. */
function runtimeDestination(
  api: ModelApi,
  client: ModelReply,
  { runtime, shares }: ModelRoutesDeps,
): Destination {
  return {
    speaker: 'model',
    async send({ ask, caller }, exchange) {
      const account = shareAccount(caller.tenantId, caller.agent.id, WAY);
      await shares.take(account, exchange.cancellation);
      try {
        return await runtime.ask(sentToRuntime(api, ask.args), exchange, client);
      } finally {
        shares.give(account);
      }
    },
  };
}
