/** Readers of foreign bytes without a listener: from MCP servers, a control plane and a ledger. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { checkBatch } from '@governance/control-plane/ingest/batch-check';
import { createControlPlaneClient } from '@governance/data-plane/sync/link/control-plane-client';
import { createControlPlaneLink } from '@governance/data-plane/sync/link/control-plane-link';
import { EventReader } from '@governance/data-plane/upstream/http/event-reader';
import { parseUpstreamMessages } from '@governance/data-plane/upstream/message';
import { LineReader } from '@governance/data-plane/upstream/stdio/line-reader';
import { findRefusedAnswers } from '@governance/data-plane/upstream/stdio/refused-answers';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { verifyBundleSignatures } from '@governance/shared/bundle/bundle-signature';
import { decodeBatch, encodeBatch } from '@governance/shared/channel/channel-routes';
import { uuidv7 } from '@governance/shared/ids';
import { readLines } from '@governance/shared/process/read-lines';
import { verifyStream } from '@governance/verifier/verify-stream';
import { createWriter } from '../../tests/support/a-data-plane.ts';
import { CALL_READERS } from './call-readers.ts';
import type { Reader } from './growth.ts';
import { JSON_SHAPES, LINE_SHAPES, type Shape } from './shapes.ts';
import { readMainThread } from './thread-account.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const LIMIT = 4 * MIB;
/** The chunk size of undici and of pipes. */
const CHUNK = 64 * KIB;
const HALF_TO_FOUR = [MIB / 2, MIB, 2 * MIB, 4 * MIB];

function* chunksOf(bytes: Buffer, size = CHUNK): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/**
 * More than this many unreadable lines in a row end a process; over HTTP the first one ends the
 * exchange.
 */
const UNREADABLE_LINES = 1000;

function readEvents(bytes: Buffer, chunk?: number): void {
  const reader = new EventReader(LIMIT, {
    onEvent: (text) => parseUpstreamMessages(text),
    onRetry: () => undefined,
    onTooLarge: () => undefined,
    onMalformed: () => undefined,
  });
  for (const part of chunksOf(bytes, chunk)) reader.push(part);
}

function readStdio(bytes: Buffer): void {
  let unreadable = 0;
  const onLine = (line: string) => {
    if (line.trim() === '') return;
    try {
      parseUpstreamMessages(line);
      unreadable = 0;
    } catch (error) {
      findRefusedAnswers(line, () => undefined);
      if (++unreadable > UNREADABLE_LINES) throw error;
    }
  };
  const reader = new LineReader(LIMIT, {
    onLine,
    onTooLong: () => undefined,
    onDropped: () => undefined,
  });
  for (const chunk of chunksOf(bytes)) reader.push(chunk);
}

const tenantId = uuidv7();
const writer = createWriter(tenantId, uuidv7(), generateKeyPairSync('ed25519').privateKey);
const publicKey = {
  tenantId,
  stream: writer.deploymentId,
  key: writer.signingKey,
};

/** A batch signed by its writer, with records given by the shape. */
function aBatch(bytes: Buffer, isWhole: boolean): Buffer {
  const { deploymentId, signingKey } = writer;
  const own = createWriter(tenantId, deploymentId, signingKey);
  own.boot();
  const lines = isWhole ? [bytes] : bytes.toString('latin1').split('\n');
  for (const line of lines.slice(0, 400)) own.appendRaw(() => Buffer.from(line));
  return encodeBatch(own.batch(0));
}

const asBatches = (shapes: readonly Shape[], isWhole: boolean): Shape[] =>
  shapes.map(({ name, make }) => ({ name, make: (size) => aBatch(make(size), isWhole) }));

async function verifyLedger(bytes: Buffer): Promise<unknown> {
  async function* records() {
    for await (const line of readLines(chunksOf(bytes), MIB)) yield { bytes: line };
  }
  return verifyStream(records());
}

const zeros: Shape = { name: 'zeros', make: (size) => Buffer.alloc(size) };
const members: Shape = {
  name: 'blocks that are no header',
  make: (size) => Buffer.alloc(size, 'a'),
};

/** A control plane that answers with the last bytes it was given. */
async function startAnswering() {
  let answer: Buffer = Buffer.alloc(0);
  const server: Server = createServer((request, response) => {
    const isSnapshot = request.url?.includes('snapshot');
    const type = isSnapshot ? 'application/x-ndjson' : 'application/json';
    response.writeHead(200, { 'content-type': type }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createControlPlaneClient(url);
  const link = createControlPlaneLink({
    client,
    tenantId,
    deploymentId: writer.deploymentId,
    token: () => 'token',
    onRefused: () => undefined,
  });
  const { signal } = new AbortController();
  return {
    readFeed: (bytes: Buffer) => {
      answer = bytes;
      return link.readFeed({ cursor: 0, digest: '', limit: 1, waitMs: 0, signal });
    },
    readSnapshot: async (bytes: Buffer) => {
      answer = bytes;
      for await (const _page of link.readSnapshot({ signal }));
    },
    stop: async () => {
      await client.close();
      server.close();
    },
  };
}

/** Creates the readers; `stop` releases their resources. */
export async function createReaders(): Promise<{ readers: Reader[]; stop(): Promise<void> }> {
  const controlPlane = await startAnswering();
  const readers: Reader[] = [
    ...CALL_READERS,
    {
      name: 'a message of an MCP server',
      shapes: JSON_SHAPES,
      sizes: HALF_TO_FOUR,
      read: (bytes) => parseUpstreamMessages(bytes.toString('utf8')),
    },
    {
      name: 'events of an MCP server',
      shapes: LINE_SHAPES,
      sizes: HALF_TO_FOUR,
      read: (bytes) => readEvents(bytes),
    },
    {
      name: 'events in chunks of 16 bytes',
      shapes: LINE_SHAPES,
      sizes: [MIB / 8, MIB / 4, MIB / 2, MIB],
      read: (bytes) => readEvents(bytes, 16),
    },
    {
      name: 'lines of a stdio server',
      shapes: LINE_SHAPES,
      sizes: [MIB / 8, MIB / 4, MIB / 2, MIB],
      read: readStdio,
    },
    {
      name: 'a record of a batch',
      shapes: asBatches(JSON_SHAPES, true),
      sizes: [MIB / 2, MIB, 2 * MIB, 4 * MIB],
      read: (bytes) => checkBatch(publicKey, decodeBatch(bytes), new Set(['alert'])),
    },
    {
      name: 'lines of a batch',
      shapes: asBatches(LINE_SHAPES, false),
      sizes: [MIB / 4, MIB / 2, MIB],
      read: (bytes) => checkBatch(publicKey, decodeBatch(bytes), new Set(['alert'])),
    },
    {
      name: 'the head of a batch',
      shapes: JSON_SHAPES,
      sizes: HALF_TO_FOUR,
      read: (bytes) => decodeBatch(bytes),
    },
    {
      name: 'the archive of a bundle',
      shapes: [zeros, members, ...JSON_SHAPES.slice(0, 20)].map(({ name, make }) => ({
        name,
        // Fast compression: its cost is not what is measured.
        make: (size) => gzipSync(Buffer.alloc(size, make(MIB)), { level: 1 }),
      })),
      sizes: [4 * MIB, 8 * MIB, 16 * MIB],
      read: (bytes) => unpackArchive(bytes),
    },
    {
      name: 'the signatures of a bundle',
      shapes: JSON_SHAPES,
      sizes: [MIB / 4, MIB / 2, MIB],
      read: (bytes) => verifyBundleSignatures(bytes, new Map(), { keys: [], scope: tenantId }),
    },
    {
      name: 'a page of the feed',
      shapes: JSON_SHAPES,
      sizes: [MIB / 2, MIB, 2 * MIB],
      read: controlPlane.readFeed,
      // The main thread alone, without the collector's threads, as for the service.
      cpuMs: () => readMainThread(process.pid).cpuMs,
    },
    {
      name: 'lines of a snapshot',
      shapes: LINE_SHAPES,
      sizes: [MIB / 2, MIB, 2 * MIB],
      read: controlPlane.readSnapshot,
    },
    {
      name: 'lines of the verifier',
      shapes: [...LINE_SHAPES, ...JSON_SHAPES],
      sizes: [MIB / 16, MIB / 8, MIB / 4],
      read: verifyLedger,
    },
  ];
  return { readers, stop: controlPlane.stop };
}
