/**
 * The control plane for tests behind a real listener, with its tokens: routes and answers as
 * shared/src/channel/channel-routes.ts has them.
 */
import { createPublicKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CHANNEL_PATHS,
  decodeBatch,
  isRegistrationProven,
  NDJSON,
  REVISION_HEADER,
} from '@governance/shared/channel/channel-routes';
import { ProvenRegistration } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { KeyHistory } from '@governance/shared/evidence/key-history';
import { uuidv7 } from '@governance/shared/ids';
import { createTestControlPlane, type TestControlPlane } from './test-control-plane.ts';
import { createTestFeedSigner, type TestFeedSigner } from './test-feed.ts';

export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

export async function startHttpControlPlane(
  options: {
    bundleKeys?: { kty: string; kid: string; alg: string }[];
    feedSigner?: TestFeedSigner;
    now?: () => number;
  } = {},
) {
  const now = options.now ?? Date.now;
  let signer = options.feedSigner ?? createTestFeedSigner();
  const tenantId = uuidv7();
  const deploymentId = uuidv7();
  const roots = new Set(['root-token']);
  /** Deployment tokens, each with its end. */
  const live = new Map<string, number>();
  const asked: string[] = [];
  let lifeMs = 3_600_000;
  let serial = 0;
  let history: KeyHistory | undefined;
  let refusal: AppError | null = null;
  let intercept: Intercept | null = null;
  let plane: TestControlPlane | null = null;

  function issue() {
    const token = `deployment-token-${++serial}`;
    const end = now() + lifeMs;
    live.set(token, end);
    return { token, expires_at: new Date(end).toISOString() };
  }

  const bearer = (request: IncomingMessage) =>
    (request.headers.authorization ?? '').replace(/^Bearer /, '');

  function requireLive(request: IncomingMessage): void {
    const end = live.get(bearer(request));
    if (end === undefined || end < now()) throw new AppError('DATA_PLANE_TOKEN_INVALID');
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://here');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { signal } = gone;
    const body = await readBody(request);
    if (url.pathname === CHANNEL_PATHS.register) {
      const token = bearer(request);
      if (!roots.has(token)) throw new AppError('DATA_PLANE_TOKEN_INVALID');
      const { registration, proof } = ProvenRegistration.parse(JSON.parse(body.toString()));
      const publicKey = createPublicKey({ key: registration.signing_key, format: 'jwk' });
      if (!isRegistrationProven(publicKey, registration, token, proof)) {
        throw new AppError('VALIDATION_FAILED', 'the proof');
      }
      if (refusal) throw refusal;
      plane ??= createTestControlPlane({
        tenantId,
        deploymentId,
        publicKey,
        feedSigner: signer,
        ...(options.now && { now: options.now }),
      });
      json(response, 200, {
        tenant_id: tenantId,
        deployment_id: deploymentId,
        bundle_keys: options.bundleKeys ?? [],
        feed_keys: [signer.public],
        key_history: history,
        token: issue(),
      });
      return;
    }
    if (!plane) throw new AppError('DATA_PLANE_TOKEN_INVALID');
    if (url.pathname === CHANNEL_PATHS.auditBatches(deploymentId)) {
      json(response, 200, await plane.link.shipBatch(decodeBatch(body)));
      return;
    }
    requireLive(request);
    switch (url.pathname) {
      case CHANNEL_PATHS.renew(deploymentId):
        json(response, 200, issue());
        return;
      case CHANNEL_PATHS.heartbeat(deploymentId):
        json(response, 200, await plane.link.heartbeat(JSON.parse(body.toString())));
        return;
      case CHANNEL_PATHS.feed(deploymentId): {
        const number = (name: string) => Number(url.searchParams.get(name));
        const page = await plane.link.readFeed({
          cursor: number('cursor'),
          digest: url.searchParams.get('digest') ?? '',
          limit: number('limit'),
          waitMs: number('wait') * 1000,
          signal,
        });
        json(response, 200, page);
        return;
      }
      case CHANNEL_PATHS.snapshot(deploymentId): {
        response.setHeader('content-type', NDJSON);
        const pages = plane.link.readSnapshot({ signal });
        let next = await pages.next();
        for (; !next.done; next = await pages.next()) {
          for (const entry of next.value) response.write(`${JSON.stringify({ entry })}\n`);
        }
        response.end(`${JSON.stringify({ end: next.value })}\n`);
        return;
      }
      case CHANNEL_PATHS.bundle(tenantId): {
        const known = /"([0-9a-f]+)"/.exec(request.headers['if-none-match'] ?? '')?.[1] ?? null;
        const waitMs = Number(/wait=(\d+)/.exec(String(request.headers.prefer))?.[1]) * 1000;
        const download = await plane.link.pullBundle({ digest: known, waitMs, signal });
        if (!download && known === null) throw new AppError('BUNDLE_NOT_FOUND');
        response.setHeader('etag', `"${download?.digest ?? known}"`);
        if (!download) {
          response.writeHead(304).end();
          return;
        }
        response.setHeader(REVISION_HEADER, download.revision);
        response.setHeader('content-type', 'application/gzip');
        response.end(download.bytes);
        return;
      }
      default:
        throw new AppError('NOT_FOUND');
    }
  }

  const server = createServer((request, response) => {
    asked.push(`${request.method} ${new URL(request.url ?? '/', 'http://here').pathname}`);
    if (intercept?.(request, response)) return;
    route(request, response).catch((error: unknown) => {
      if (response.destroyed) return;
      const { status, detail, errors } =
        error instanceof AppError ? error : new AppError('INTERNAL', String(error));
      json(response, status, { detail, ...(errors && { errors }) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    tenantId,
    deploymentId,
    /** Methods and paths, in their order. */
    asked,
    roots,
    live,
    plane(): TestControlPlane {
      if (!plane) throw new Error('nobody registered yet');
      return plane;
    },
    setLife(ms: number): void {
      lifeMs = ms;
    },
    /** The key history that registrations carry. */
    setHistory(next: KeyHistory): void {
      history = next;
    },
    /** What registrations are answered with instead. */
    refuse(error: AppError | null): void {
      refusal = error;
    },
    /** Signs with other keys from now on, for those who register from now on. */
    setSigner(next: TestFeedSigner): void {
      signer = next;
    },
    /** Answers itself where it returns true. */
    intercept(next: Intercept | null): void {
      intercept = next;
    },
    revokeAll(): void {
      roots.clear();
      live.clear();
      plane?.announce();
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type HttpControlPlane = Awaited<ReturnType<typeof startHttpControlPlane>>;

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
