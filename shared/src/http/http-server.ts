/**
 * The only listener. Both planes register their routes on it as plugins, each with its own body
 * parsers and hooks, so that neither pays for the other's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import cors from '@fastify/cors';
import Fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type preHandlerHookHandler,
} from 'fastify';
import type { Logger } from 'pino';
import { AppError } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { findClientAddress, NO_PROXIES, type TrustedProxies } from './client-address.ts';
import { findAnswer } from './current-answers.ts';
import { createErrorHandler } from './http-errors.ts';
import { RequestLog } from './request-log.ts';
import { createStopping } from './stopping.ts';
import { answerUnmatched } from './unmatched-requests.ts';
import { closeStalled } from './unsent-bytes.ts';

/** Bytes of a body, at most, unless a route says otherwise. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/** What pages of other origins may read of an answer besides what browsers always show them. */
const EXPOSED_HEADERS = [
  ...['x-next-cursor', 'x-total-events', 'x-request-id', 'retry-after', 'www-authenticate'],
  ...['location', 'content-disposition', 'content-range', 'etag', 'allow'],
];

export interface HttpServerOptions {
  log: Logger;
  /** SERVICE_CORS_ORIGINS_STR, split. */
  corsOrigins: string[];
  /** SERVICE_TRUSTED_PROXIES; none unless given. */
  trustedProxies?: TrustedProxies;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's origin: the socket's address, or what a trusted proxy reports. */
    readonly clientAddress: string;
  }
}

/**
 * An empty server: what every route shares, whichever plane it belongs to. A plane whose errors
 * need an explanation of its own sets its own handler in its scope (`createErrorHandler`).
 */
export function createHttpServer({
  log,
  corsOrigins,
  trustedProxies = NO_PROXIES,
}: HttpServerOptions): FastifyInstance {
  const handleError = createErrorHandler();
  const stopping = createStopping();
  const app: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // Whether to log a line for each request is each plane's own choice.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => uuidv7(),
    childLoggerFactory: (parent, bindings, options) => new RequestLog(parent, bindings, options),
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    // Against slow senders of headers or bodies; answers (streams, long polls) may take as long as
    // they like.
    requestTimeout: 130_000,
    forceCloseConnections: 'idle',
    // Node's own refusal has no body; see `checkSingleHeaders`.
    http: { ServerResponse: stopping.Answer, requireHostHeader: false },
    // Names of 200 characters, percent-encoded.
    routerOptions: { maxParamLength: 2_000 },
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
  });
  // All that fit their 16 KB. Beyond a count Node drops the last, which a trusted proxy appended.
  app.server.maxHeadersCount = 0;
  oneAtATime(app);
  stopping.bind(app);
  app.addHook('onRequest', ({ raw }, _reply, done) => done(checkSingleHeaders(raw)));
  app.addHook('preHandler', serveWhoIsThere);
  app.server.on('checkExpectation', refuseExpectation);
  const letStall = closeStalled(app.server);
  app.addHook('onClose', async () => letStall());
  // Not Fastify's trustProxy: that would also trust the host and the scheme that a header names.
  app.decorateRequest('clientAddress', {
    getter() {
      const { headers, socket } = this.raw;
      return findClientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustedProxies);
    },
  });
  app.setErrorHandler(handleError);
  if (corsOrigins.length > 0) {
    // The plugin has a route for every OPTIONS, and refuses what is no preflight in plain text.
    app.addHook('onRequest', (request, reply, done) => {
      if (request.method === 'OPTIONS' && !isPreflight(request)) answerOptions(request, reply);
      else done();
    });
    void app.register(cors, {
      origin: corsOrigins,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 600,
    });
  }
  const answerOptions = answerUnmatched(app);
  return app;
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return Boolean(headers.origin && headers['access-control-request-method']);
}

/**
 * One Host (RFC 9112 section 3.2), and one Authorization at most, which is no list (RFC 9110 section
 * 5.3). Node keeps the first of several, and whatever stands before the service may read another.
 */
function checkSingleHeaders({ httpVersion, rawHeaders }: IncomingMessage): AppError | undefined {
  let hosts = 0;
  let credentials = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase();
    if (name === 'host') hosts += 1;
    else if (name === 'authorization') credentials += 1;
  }
  if (credentials > 1) {
    return new AppError('BAD_REQUEST', 'The request may have one Authorization header.');
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined;
  return new AppError('BAD_REQUEST', 'The request must have one Host header.');
}

/**
 * Ends a request whose client left while its token was verified or its body was read. Handlers learn
 * of a client that leaves by `close`, and that has been: they would keep streams, timers and room for
 * nobody.
 */
const serveWhoIsThere: preHandlerHookHandler = (_request, reply, done) => {
  if (reply.raw.destroyed) reply.hijack();
  else done();
};

function refuseExpectation(_request: IncomingMessage, answer: ServerResponse): void {
  answer.statusCode = 417;
  answer.setHeader('content-type', 'application/json; charset=utf-8');
  answer.setHeader('connection', 'close');
  answer.end(JSON.stringify({ detail: 'Only the expectation 100-continue is met.' }));
}

const UNREADABLE: Record<string, readonly [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

/** Requests that Node's parser refuses reach no route, but are answered like every other error. */
function answerUnreadable(error: ConnectionError, socket: Socket): void {
  // The client has gone: nobody reads an answer.
  if (error.code === 'ECONNRESET' || !socket.writable || belongsToAnother(socket)) {
    socket.destroy();
    return;
  }
  const [status, detail] = UNREADABLE[error.code] ?? [
    '400 Bad Request',
    'The request is malformed.',
  ];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Whether the client would take what is sent now for the answer to an earlier request. */
function belongsToAnother(socket: Socket): boolean {
  const answer = findAnswer(socket);
  return answer !== undefined && (answer.headersSent || answer.req.complete);
}

/** The address of a listening server as reached from its own machine. */
export function listeningUrl(
  app: { server: Pick<Server, 'address'> },
  given: { host: string; port: number },
): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : given.port;
  return `http://${given.host === '0.0.0.0' ? 'localhost' : given.host}:${port}`;
}
