/**
 * Reads the body of a request of Fastify as its `parseAs: 'buffer'` does, with the same statuses,
 * but keeps no chunk: the caller decides into how many its body is cut.
 */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';
import { ByteCollector } from '../byte-collector.ts';

/**
 * @param payload caller-controlled: what a content type parser is given
 * @param limit bytes at most; those of the route by default
 * @throws FastifyError 413 where it is larger, 400 where it breaks off or has another length than
 *   declared
 */
export function readRequestBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  limit: number = request.routeOptions.bodyLimit,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length']);
    if (declared > limit) {
      reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
      return;
    }
    const body = new ByteCollector(limit);
    const stop = () => payload.off('data', onData).off('end', onEnd).off('error', onError);
    const onData = (chunk: Buffer) => {
      if (body.add(chunk)) return;
      stop();
      reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    };
    const onEnd = () => {
      stop();
      const isOther = !Number.isNaN(declared) && body.length !== declared;
      if (isOther) reject(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
      else resolve(body.take());
    };
    const onError = (error: Error) => {
      stop();
      reject(Object.assign(error, { statusCode: 400 }));
    };
    payload.on('data', onData).on('end', onEnd).on('error', onError).resume();
  });
}

/** Of a body that is refused for its size, the bytes that are read and dropped, at most. */
const DROPPED_BYTES = 64 * 1024 * 1024;

/**
 * Lets the sender of a body that is too large read why. Fastify closes the connection after the
 * answer, and a client that is still sending then sees a broken pipe in place of the 413. Without
 * that Node reads the rest and drops it.
 *
 * @param error what an error handler was given; nothing happens unless it is that refusal
 */
export function keepUntilSent(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof errorCodes.FST_ERR_CTP_BODY_TOO_LARGE)) return;
  if (Number(request.headers['content-length']) <= DROPPED_BYTES) reply.removeHeader('connection');
}
