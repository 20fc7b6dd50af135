/**
 * The verification service (specification 3): no account, no database, nothing stored. Every
 * package gets a verdict, whatever it contains; a malformed request gets a 422. Proven by
 * verifier-app.test.ts.
 */
import type { IncomingMessage } from 'node:http';
import type { EvidenceTrust, TrustedIssuer } from '@governance/shared/evidence/checks/evidence';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { addressGroup, type TrustedProxies } from '@governance/shared/http/client-address';
import { createHttpServer } from '@governance/shared/http/http-server';
import { readRequestBody } from '@governance/shared/http/request-body';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { FormInvalid, problem, readForm, type VerificationForm } from './form.ts';
import { createPackageFetch, type FetchPackage, PackageFetchError } from './package-fetch.ts';
import { reportText } from './report-text.ts';
import { issuerOf, KEYSET_FORMAT, type PublishedKeyset } from './trust.ts';
import { createUploads, type UploadLimits, UploadRefused, uploadLimits } from './uploads.ts';
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
  /** Whose X-Forwarded-For counts; none unless given. */
  trustedProxies?: TrustedProxies;
  /** Other limits than by default. */
  uploads?: Partial<UploadLimits>;
  fetchPackage?: FetchPackage;
  verify?: (bytes: Uint8Array, trust: EvidenceTrust) => Promise<VerificationResult>;
}

/** Room for an anchor and the form's own lines beside the package. */
const BODY_LIMIT = VOLUME_LIMITS.packedBytes + 2 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 20_000;
const RETRY_AFTER_SECONDS = 5;

const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The verification service: its API, its page and what it publishes. It stores nothing. */
export function createVerifierApp(deps: VerifierAppDeps): FastifyInstance {
  const { published, concurrency, verify = runVerification } = deps;
  const fetchPackage =
    deps.fetchPackage ??
    createPackageFetch({ maxBytes: VOLUME_LIMITS.packedBytes, timeoutMs: FETCH_TIMEOUT_MS });
  const issuers = [...deps.issuers, ...(published ? [issuerOf(published)] : [])];
  const { log, trustedProxies } = deps;
  const app = createHttpServer({ log, corsOrigins: [], trustedProxies });
  const uploads = createUploads({ ...uploadLimits(concurrency, BODY_LIMIT), ...deps.uploads });
  // In number only: each may bring a whole package, and takes as long as its host wants.
  const fetches = createUploads({
    ...uploadLimits(concurrency, BODY_LIMIT),
    ...{ number: concurrency + 1, numberOfAddress: Math.ceil(concurrency / 2) },
  });
  let running = 0;

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
      uploads.receive(addressGroup(request.clientAddress), payload, () =>
        readRequestBody(request, payload, BODY_LIMIT),
      ),
    );
    scope.setErrorHandler(answerError);
    // Spares an upload that would be refused at its end.
    scope.addHook('onRequest', async () => requireSlot());
    scope.post('/api/v1/verify', { bodyLimit: BODY_LIMIT }, (request) => verdictOf(request, true));
    scope.post('/api/v1/verify.txt', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const text = reportText(await verdictOf(request, false));
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  });

  function requireSlot(): void {
    if (running >= concurrency) throw new UploadRefused('busy');
  }

  /** Takes a slot, until the work ends: the client may have gone before. */
  async function inSlot<T>(work: () => Promise<T>): Promise<T> {
    requireSlot();
    running++;
    try {
      return await work();
    } finally {
      running--;
    }
  }

  async function verdictOf(
    request: FastifyRequest,
    takesUrl: boolean,
  ): Promise<VerificationResult> {
    const read = await inSlot(async () => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const form = readForm(body, request.headers['content-type'], takesUrl);
      return { form, result: form.package && (await verified(form.package, form)) };
    });
    if (read.result) return read.result;
    // Without a slot: a host that is slow keeps no verification waiting.
    const bytes = await fetched(request.clientAddress, read.form.packageUrl ?? '');
    return inSlot(() => verified(bytes, read.form));
  }

  async function verified(
    bytes: Uint8Array,
    { anchor }: VerificationForm,
  ): Promise<VerificationResult> {
    if (bytes.byteLength > VOLUME_LIMITS.packedBytes) {
      throw problem('package', 'is larger than 64 MiB', 'too_large');
    }
    return verify(bytes, { anchor, issuers });
  }

  async function fetched(client: string, url: string): Promise<Uint8Array> {
    try {
      return await fetches.hold(addressGroup(client), () => fetchPackage(url));
    } catch (error) {
      if (error instanceof PackageFetchError) {
        throw problem('package_url', error.message, error.code);
      }
      throw error;
    }
  }
  return app;
}

/** The rest of the body is not read. */
function refuse({ reason }: UploadRefused, reply: FastifyReply): FastifyReply {
  reply.header('connection', 'close');
  if (reason === 'slow') return reply.code(408).send({ detail: 'The body arrives too slowly.' });
  return reply
    .code(503)
    .header('retry-after', String(RETRY_AFTER_SECONDS))
    .send({ detail: 'The limit of concurrent verifications is reached. Try again later.' });
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): unknown {
  if (error instanceof UploadRefused) return refuse(error, reply);
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
