/** One tenant's channels over HTTP. Proven by control-plane-link.test.ts. */

import { BUNDLE_LIMITS } from '@governance/shared/bundle/bundle-format';
import {
  CHANNEL_PATHS,
  encodeBatch,
  FeedPageBody,
  NDJSON,
  REVISION_HEADER,
  SnapshotLine,
} from '@governance/shared/channel/channel-routes';
import {
  type ControlPlaneLink,
  DeploymentToken,
  HeartbeatReceipt,
  type ProvenRegistration,
  RegistrationReply,
} from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { DatedSnapshotEnd } from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import { PayloadReceipt } from '@governance/shared/evidence/event-payload';
import { LogView } from '@governance/shared/evidence/log-watch';
import type { BatchReceipt } from '@governance/shared/ledger/audit-batch';
import { LineTooLongError, readLines } from '@governance/shared/process/read-lines';
import { Id, Sha256Hex } from '@governance/shared/text';
import { z } from 'zod';
import { BundleRefusedError } from './bundle-error.ts';
import type { ControlPlaneClient, ControlPlaneRequest } from './control-plane-client.ts';
import { FeedRefusedError } from './feed-error.ts';
import { AnswerRefusedError, LinkError } from './link-error.ts';

const SMALL_ANSWER = 256 * 1024;
const FEED_PAGE_BYTES = 64 * 1024 * 1024;
/** Values and keys: a role has at most 1,000 permissions and as many scopes. */
const FACT_NODES = 2_500;
/** Values and keys beside the entries. */
const PAGE_NODES = 10_000;
/** A fact has at most a megabyte, plus a little around it. */
const SNAPSHOT_LINE_BYTES = 4 * 1024 * 1024;
/** Entries passed on together, and the length of their lines. */
const SNAPSHOT_PAGE = { entries: 500, bytes: 8 * 1024 * 1024 };
const SNAPSHOT_MS = 15 * 60_000;
/** As many keys, rotations and epochs as a view may have. */
const LOG_VIEW_BYTES = 1024 * 1024;
const LOG_VIEW_NODES = 50_000;
/** Time limit for a batch of maximum size over a slow line. */
const BATCH_MS = 60_000;

/** A heartbeat was received, whatever a control plane says besides. */
const Heard = HeartbeatReceipt.extend({ next: HeartbeatReceipt.shape.next.catch(undefined) });

const Receipt: z.ZodType<BatchReceipt> = z.object({
  status: z.enum(['accepted', 'already_stored']),
  stream: Id,
  epoch: z.int().positive(),
  last_seq: z.int().positive(),
  head: Sha256Hex,
});

/**
 * Registers with a token issued by an administrator.
 *
 * @throws LinkError; DATA_PLANE_TOKEN_INVALID, DATA_PLANE_REVOKED and DATA_PLANE_FORKED are definite
 */
export async function register(
  client: ControlPlaneClient,
  token: string,
  registration: ProvenRegistration,
  signal?: AbortSignal,
): Promise<RegistrationReply> {
  const answer = await client.send({
    method: 'POST',
    path: CHANNEL_PATHS.register,
    token,
    body: JSON.stringify(registration),
    contentType: 'application/json',
    codes: { 409: 'DATA_PLANE_REVOKED' },
    signal,
  });
  return answer.json(RegistrationReply, SMALL_ANSWER);
}

/** A new token of the deployment, in exchange for the present one. @throws LinkError */
export async function renewToken(
  client: ControlPlaneClient,
  deploymentId: string,
  token: string,
  signal?: AbortSignal,
): Promise<DeploymentToken> {
  const path = CHANNEL_PATHS.renew(deploymentId);
  const answer = await client.send({ method: 'POST', path, token, signal });
  return answer.json(DeploymentToken, SMALL_ANSWER);
}

/**
 * @param options.token the deployment's token now
 * @param options.onRefused told when the control plane itself refused that token
 */
export function createControlPlaneLink(options: {
  client: ControlPlaneClient;
  tenantId: string;
  deploymentId: string;
  token: () => string;
  onRefused: (token: string) => void;
}): ControlPlaneLink {
  const { tenantId, deploymentId } = options;

  async function send(request: Omit<ControlPlaneRequest, 'token'>) {
    const token = options.token();
    try {
      return await options.client.send({ ...request, token });
    } catch (error) {
      if (error instanceof LinkError && error.code === 'DATA_PLANE_TOKEN_INVALID') {
        options.onRefused(token);
      }
      throw error;
    }
  }

  return {
    pullBundle: async ({ digest, waitMs, signal }) => {
      const answer = await send({
        method: 'GET',
        path: CHANNEL_PATHS.bundle(tenantId),
        headers: {
          prefer: `wait=${Math.floor(waitMs / 1000)}`,
          ...(digest !== null && { 'if-none-match': `"${digest}"` }),
        },
        waitMs,
        signal,
      }).catch((error: unknown) => {
        // There is none before the first is built, which is not an error.
        if (error instanceof LinkError && error.code === 'BUNDLE_NOT_FOUND') return null;
        throw error;
      });
      if (!answer) return null;
      const bytes = await answer.bytes(BUNDLE_LIMITS.compressedBytes).catch(tooLargeBundle);
      if (answer.status === 304) return null;
      const { revision, etag } = readBundleHeaders(answer.header);
      return etag === digest ? null : { revision, digest: etag, bytes };
    },
    readFeed: async ({ cursor, digest, limit, waitMs, signal, backlog }) => {
      const answer = await send({
        method: 'GET',
        path: CHANNEL_PATHS.feed(deploymentId),
        query: {
          cursor,
          digest,
          limit,
          wait: Math.floor(waitMs / 1000),
          ...(backlog !== undefined && { backlog }),
        },
        codes: { 410: 'FEED_RESET' },
        waitMs,
        signal,
      });
      const nodes = PAGE_NODES + limit * FACT_NODES;
      return answer.json(FeedPageBody, FEED_PAGE_BYTES, nodes).catch(withoutStatement);
    },
    async *readSnapshot({ signal }) {
      const path = CHANNEL_PATHS.snapshot(deploymentId);
      const headers = { accept: NDJSON };
      const answer = await send({ method: 'GET', path, headers, bodyMs: SNAPSHOT_MS, signal });
      return yield* readSnapshot(answer.chunks());
    },
    heartbeat: async (body) => {
      const answer = await send({
        method: 'POST',
        path: CHANNEL_PATHS.heartbeat(deploymentId),
        body: JSON.stringify(body),
        contentType: 'application/json',
      });
      return answer.json(Heard, SMALL_ANSWER);
    },
    shipBatch: async (batch) => {
      const request = {
        method: 'POST',
        path: CHANNEL_PATHS.auditBatches(deploymentId),
        body: encodeBatch(batch),
        contentType: NDJSON,
        codes: { 409: 'BATCH_CONFLICT' },
        waitMs: BATCH_MS,
      } as const;
      return (await send(request)).json(Receipt, SMALL_ANSWER);
    },
    readLog: async ({ epoch, size, signal }) => {
      const path = CHANNEL_PATHS.log(deploymentId);
      const answer = await send({ method: 'GET', path, query: { epoch, size }, signal });
      return answer.json(LogView, LOG_VIEW_BYTES, LOG_VIEW_NODES);
    },
    shipPayloads: async (upload) => {
      const request = {
        method: 'POST',
        path: CHANNEL_PATHS.payloads(deploymentId),
        body: JSON.stringify(upload),
        contentType: 'application/json',
        waitMs: BATCH_MS,
      } as const;
      return (await send(request)).json(PayloadReceipt, SMALL_ANSWER);
    },
  };
}

async function* readSnapshot(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<FeedEntry[], DatedSnapshotEnd, undefined> {
  let end: DatedSnapshotEnd | null = null;
  let page: FeedEntry[] = [];
  let size = 0;
  const lines = readLines(chunks, SNAPSHOT_LINE_BYTES);
  try {
    for await (const bytes of lines) {
      if (end) throw new FeedRefusedError('snapshot_malformed', 'something follows the end');
      const line = parseLine(bytes.toString('utf8'));
      if ('end' in line) end = { ...line.end, clock: line.clock };
      else page.push(line.entry);
      size += bytes.length;
      if (page.length >= SNAPSHOT_PAGE.entries || size >= SNAPSHOT_PAGE.bytes) {
        yield page;
        page = [];
        size = 0;
      }
    }
  } catch (cause) {
    if (!(cause instanceof LineTooLongError)) throw cause;
    throw new FeedRefusedError('snapshot_too_large', 'a line is too long', { cause });
  }
  if (page.length > 0) yield page;
  if (!end) throw new FeedRefusedError('snapshot_incomplete', 'the snapshot has no end');
  return end;
}

function parseLine(text: string): SnapshotLine {
  try {
    const line: unknown = JSON.parse(text);
    const parsed = SnapshotLine.safeParse(line);
    if (parsed.success) return parsed.data;
    if (isWithoutSignature((line as { end?: unknown } | null)?.end)) throw stripped();
    throw parsed.error;
  } catch (cause) {
    if (cause instanceof FeedRefusedError) throw cause;
    throw new FeedRefusedError('snapshot_malformed', 'a line is no entry and no end', { cause });
  }
}

/** A page that is well-formed except for its signature has a code of its own. */
function withoutStatement(error: unknown): never {
  const cause = error instanceof AnswerRefusedError ? error.cause : null;
  if (cause instanceof z.ZodError && cause.issues.every(({ path }) => isOfSignature(path))) {
    throw stripped();
  }
  throw error;
}

function isOfSignature([first, second]: readonly PropertyKey[]): boolean {
  return first === 'statement' && (second === undefined || second === 'signature');
}

function isWithoutSignature(signed: unknown): boolean {
  return typeof signed === 'object' && signed !== null && !Object.hasOwn(signed, 'signature');
}

function stripped(): FeedRefusedError {
  return new FeedRefusedError('statement_stripped', 'the statement came without its signature');
}

function readBundleHeaders(header: (name: string) => string | undefined) {
  const etag = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(header('etag') ?? '')?.[1];
  const revision = Number(header(REVISION_HEADER));
  if (etag === undefined || !Number.isSafeInteger(revision) || revision <= 0) {
    // A proxy's page has neither.
    throw new AppError('UNAVAILABLE', 'an answer that is no bundle');
  }
  return { etag, revision };
}

function tooLargeBundle(error: unknown): never {
  if (error instanceof AnswerRefusedError) {
    throw new BundleRefusedError('too_large', 'the bundle is too large', { cause: error });
  }
  throw error;
}
