/**
 * Requests to addresses that the operator named: the receiver of alerts, witnesses of the log. A name
 * is checked where it is resolved, in the connection's own look-up, so that it cannot lead elsewhere
 * than was judged. Redirects are not followed; answers and times are bounded. Proven by
 * outbound-client.test.ts.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { ByteCollector } from '../byte-collector.ts';
import { ADDRESS_REFUSED, createAddressPolicy } from './address-policy.ts';

export type OutboundClient = ReturnType<typeof createOutboundClient>;

/** Its message is for the operator, and contains nothing of an answer. */
class OutboundError extends Error {}

/** @returns the message for a host that is not open */
const notOpen = (host: string): string =>
  `the address of ${host} is not global: SERVICE_OUTBOUND_ALLOW does not name it`;

/**
 * @param allow SERVICE_OUTBOUND_ALLOW; null where it is not set: global addresses, and in development
 *   all but those where clouds give credentials
 */
export function createOutboundClient({
  allow,
  isProduction,
}: {
  allow: readonly string[] | null;
  isProduction: boolean;
}) {
  const entries = allow ?? [isProduction ? 'global' : '*'];
  const policy = createAddressPolicy(entries, undefined, notOpen);

  return {
    /**
     * Posts.
     *
     * @param request.maxBytes of the answer's body; a longer one fails. Null where it is not read.
     * @throws OutboundError where the address is not open, or the answer too large
     * @throws Error named TimeoutError, or with the connection's `code`
     */
    post: async (request: {
      url: string;
      body: string;
      headers: Record<string, string>;
      timeoutMs: number;
      maxBytes: number | null;
      signal?: AbortSignal;
    }): Promise<{ status: number; text: string }> => {
      const { body, headers, timeoutMs, maxBytes, signal } = request;
      const url = new URL(request.url);
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      // An address given by the operator is intended: nobody else can redirect it.
      const isWritten = isIP(host) !== 0;
      const deadline = AbortSignal.timeout(timeoutMs);
      const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
      return new Promise((resolve, reject) => {
        const fail = (error: unknown) => reject(toFailure(error, deadline));
        const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
        const request = send(
          url,
          {
            method: 'POST',
            headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
            agent: false,
            signal: ended,
            ...(!isWritten && { lookup: policy.lookup }),
          },
          (response) => {
            const status = response.statusCode ?? 0;
            if (maxBytes === null) {
              resolve({ status, text: '' });
              response.destroy();
              return;
            }
            readBody(response, maxBytes).then(
              (answered) => resolve({ status, text: answered }),
              (error) => {
                request.destroy();
                fail(error);
              },
            );
          },
        );
        request.on('error', fail);
        // Node tells of neither as an error: who changes the protocol, and a deadline behind that.
        request.on('upgrade', (_response, socket) => {
          socket.destroy();
          fail(new OutboundError('the answer changes the protocol'));
        });
        ended.addEventListener('abort', () => fail(ended.reason), { once: true });
        request.end(body);
      });
    },
  };
}

function toFailure(error: unknown, deadline: AbortSignal): unknown {
  if (deadline.aborted) return deadline.reason;
  const isRefused = error instanceof Error && 'code' in error && error.code === ADDRESS_REFUSED;
  return isRefused ? new OutboundError(error.message) : error;
}

/**
 * What failed, for the operator: never the other side's text.
 *
 * @param error of `post`
 */
export function describeOutboundFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be asked';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `the connection failed: ${code}` : error.message;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const body = new ByteCollector(maxBytes);
  for await (const part of response as AsyncIterable<Buffer>) {
    if (!body.add(part)) throw new OutboundError('the answer is too large');
  }
  return body.take().toString('utf8');
}
