/**
 * The id of a request that is refused before its body is read. A client needs it to know which of
 * its requests was refused; the service reads no more than this for an unknown client.
 */
import { ByteCollector } from '@governance/shared/byte-collector';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import type { FastifyRequest } from 'fastify';
import { idOf, type RpcId } from './json-rpc.ts';

const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 64;
const MAX_NODES = 10_000;
/** A body this small comes with its headers, or soon after them. */
const WAIT_MS = 1_000;

/** @returns null where the body is larger, slower, or not one JSON-RPC request */
export async function readUnreadId(request: FastifyRequest): Promise<RpcId | null> {
  const { headers, raw, method } = request;
  const isJson = /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');
  const isSmall = Number(headers['content-length'] ?? 0) <= MAX_BYTES;
  if (method !== 'POST' || !isJson || !isSmall || request.body !== undefined) return null;
  const body = await readSmall(raw);
  if (body === null) return null;
  try {
    // caller-controlled
    const value = parseStrictJson(body, { maxDepth: MAX_DEPTH, maxNodes: MAX_NODES });
    return idOf(value);
  } catch {
    return null;
  }
}

/** Reads to the end, or discards the rest, as Node does with an unwanted body. */
function readSmall(stream: FastifyRequest['raw']): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const body = new ByteCollector(MAX_BYTES);
    const finish = (body: Buffer | null) => {
      clearTimeout(timer);
      stream.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      if (body === null) stream.on('error', () => undefined).resume();
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      if (!body.add(chunk)) finish(null);
    };
    const onEnd = () => finish(body.take());
    const onGone = () => finish(null);
    const timer = setTimeout(onGone, WAIT_MS);
    stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}
