/**
 * The verification service (specification 3): no account, no database, nothing stored. Every
 * package gets a verdict, whatever it contains; a malformed request gets a 422. Proven by
 * verifier-app.test.ts.
 */
import type { IncomingMessage } from 'node:http';
import type { EvidenceTrust, TrustedIssuer } from '@governance/shared/evidence/checks/evidence';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { createHttpServer } from '@governance/shared/http-server';
import { readRequestBody } from '@governance/shared/request-body';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { FormInvalid, problem, readForm } from './form.ts';
import { createPackageFetch, type FetchPackage, PackageFetchError } from './package-fetch.ts';
import { reportText } from './report-text.ts';
import { issuerOf, KEYSET_FORMAT, type PublishedKeyset } from './trust.ts';
import { runVerification } from './verification-runs.ts';
import { VERIFIER_PAGE, VERIFIER_PAGE_HEADERS } from './verifier-page.ts';
import type { VerificationResult } from './verify-package.ts';
import { VERIFIER_VERSION } from './version.ts';

export interface VerifierAppDeps {
  log: Logger;
  /** What is published; null: nothing is trusted here. */
  published: PublishedKeyset | null;
  issuers: readonly TrustedIssuer[];
  /** Concurrent verifications. */
  concurrency: number;
  fetchPackage?: FetchPackage;
  verify?: (bytes: Uint8Array, trust: EvidenceTrust) => Promise<VerificationResult>;
}

/** Room for an anchor and the form's own lines beside the package. */
const BODY_LIMIT = VOLUME_LIMITS.packedBytes + 2 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 20_000;
const RETRY_AFTER_SECONDS = 5;

const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function createVerifierApp(deps: VerifierAppDeps): FastifyInstance {
  const { published, concurrency, verify = runVerification } = deps;
  const fetchPackage =
    deps.fetchPackage ??
    createPackageFetch({ maxBytes: VOLUME_LIMITS.packedBytes, timeoutMs: FETCH_TIMEOUT_MS });
  const issuers = [...deps.issuers, ...(published ? [issuerOf(published)] : [])];
  const app = createHttpServer({ log: deps.log, corsOrigins: [] });
  let running = 0;
  /** Settled, never rejected, once all its resources are released. */
  const verifications = new WeakMap<FastifyRequest, Promise<unknown>>();

  app.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
  });

  app.get('/', async (_request, reply) => reply.headers(VERIFIER_PAGE_HEADERS).send(VERIFIER_PAGE));
  app.get('/api/v1/health', async () => ({
    status: 'ok',
    version: VERIFIER_VERSION,
    running,
    concurrency,
  }));
  // Packages name this address, so it always answers.
  app.get('/trust-anchor.json', async (_request, reply) =>
    reply.send(published ?? { format: KEYSET_FORMAT, issuer: '', keys: [] }),
  );

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      readRequestBody(request, payload, BODY_LIMIT),
    );
    scope.setErrorHandler(answerError);
    // Before the body is read, which takes most of a verification's memory.
    scope.addHook('onRequest', async (request, reply) => {
      if (running >= concurrency) return refuseBusy(reply);
      running++;
      // Answered, or the client has disconnected: its verification may still be running.
      reply.raw.once('close', () => {
        const work = verifications.get(request) ?? Promise.resolve();
        void work.finally(() => {
          running--;
        });
      });
    });
    scope.post('/api/v1/verify', { bodyLimit: BODY_LIMIT }, (request) => verdictOf(request, true));
    scope.post('/api/v1/verify.txt', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const text = reportText(await verdictOf(request, false));
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  });

  function verdictOf(request: FastifyRequest, takesUrl: boolean): Promise<VerificationResult> {
    const work = verifyForm(request, takesUrl);
    verifications.set(
      request,
      work.catch(() => undefined),
    );
    return work;
  }

  async function verifyForm(
    request: FastifyRequest,
    takesUrl: boolean,
  ): Promise<VerificationResult> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const form = await readForm(body, request.headers['content-type'], takesUrl);
    const bytes = form.package ?? (await fetched(form.packageUrl ?? ''));
    if (bytes.byteLength > VOLUME_LIMITS.packedBytes) {
      throw problem('package', 'is larger than 64 MiB', 'too_large');
    }
    return verify(bytes, { anchor: form.anchor, issuers });
  }

  async function fetched(url: string): Promise<Uint8Array> {
    try {
      return await fetchPackage(url);
    } catch (error) {
      if (error instanceof PackageFetchError) {
        throw problem('package_url', error.message, error.code);
      }
      throw error;
    }
  }
  return app;
}

function refuseBusy(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({ 'retry-after': String(RETRY_AFTER_SECONDS), connection: 'close' })
    .send({ detail: 'The limit of concurrent verifications is reached. Try again later.' });
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): unknown {
  if (error instanceof FormInvalid) return reply.code(422).send({ detail: error.detail });
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const detail = [{ loc: ['body', 'package'], msg: 'is larger than 64 MiB', type: 'too_large' }];
    return reply.code(422).header('connection', 'close').send({ detail });
  }
  if (error.statusCode !== undefined && error.statusCode < 500) {
    const detail = [
      { loc: ['body'], msg: 'must be multipart/form-data', type: 'multipart_invalid' },
    ];
    return reply.code(422).send({ detail });
  }
  request.log.error({ err: error }, 'a verification failed');
  return reply.code(500).send({ detail: `Internal error. Request id: ${request.id}` });
}
