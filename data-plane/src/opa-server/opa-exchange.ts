/**
 * One question to an OPA server over HTTP. Connections are kept; a reply has a size limit and a
 * time limit, and a redirect is not followed. Nothing is thrown.
 */
import { Pool } from 'undici';
import { failed, type OpaFailed, type OpaReply } from './opa-answer.ts';

export type OpaExchange = ReturnType<typeof createOpaExchange>;

const MAX_REPLY_BYTES = 1024 * 1024;

/**
 * @param base the server's address, its path ending in a slash
 * @param connections at most; a question waits for a free one within its time limit
 */
export function createOpaExchange(base: URL, token: string | null, connections: number) {
  const pool = new Pool(base.origin, { connections, maxResponseSize: MAX_REPLY_BYTES });
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  return {
    /** @param body absent for a GET */
    async send(path: string, timeoutMs: number, body?: string): Promise<OpaReply> {
      try {
        const reply = await pool.request({
          path: `${base.pathname}${path}`,
          method: body === undefined ? 'GET' : 'POST',
          headers,
          ...(body !== undefined && { body }),
          // undici takes only whole milliseconds.
          signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
        });
        return { kind: 'reply', status: reply.statusCode, text: await reply.body.text() };
      } catch (error) {
        return failureOf(error, timeoutMs);
      }
    },
    close: (): Promise<void> => pool.destroy(),
  };
}

function failureOf(error: unknown, timeoutMs: number): OpaFailed {
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError') {
    return failed('opa_timeout', `no answer within ${Math.ceil(timeoutMs)} ms`);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return failed('opa_malformed', 'the answer is too large');
  }
  return failed('opa_unreachable', code ?? name ?? 'no connection');
}
