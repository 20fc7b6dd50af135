/** The gateway's answers to malformed requests. No malformed request gets a 5xx. */

import { AppError, RPC_ERRORS } from '@governance/shared/errors';
import { BodiesBusyError } from '@governance/shared/http/body-turns';
import { frameworkFieldsOf } from '@governance/shared/http/http-errors';
import { keepUntilSent } from '@governance/shared/http/request-body';
import { addressFor } from '@governance/shared/outbound/own-addresses';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../enforcement/call/answer.ts';
import { sendError } from './answer.ts';
import { GatewayError, type RpcId } from './json-rpc.ts';
import { challengeHeader } from './protected-resource.ts';
import { readUnreadId } from './unread-id.ts';

export interface HttpErrorDeps {
  publicUrl: string;
  onProtocolError(status: number, code: number): void;
}

/** Of a 503: what is too much at a time now has room again soon. */
const RETRY_AFTER_SECONDS = '2';

/** The error handler of the gateway's routes. */
export function createErrorHandler(deps: HttpErrorDeps) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const isUnauthorized = error instanceof GatewayError && error.code === RPC_ERRORS.UNAUTHORIZED;
    const { rpcId } = request;
    if (!isUnauthorized || rpcId !== null) return answerError(error, request, reply, deps, rpcId);
    return readUnreadId(request).then((id) => answerError(error, request, reply, deps, id));
  };
}

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: HttpErrorDeps,
  id: RpcId | null,
): FastifyReply {
  const described = describe(error);
  const { status, code } = described;
  if (status >= 500 && status !== 503) {
    request.log.error({ err: error }, 'the gateway failed');
  }
  deps.onProtocolError(status, code);
  keepUntilSent(error, request, reply);
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (error instanceof GatewayError && error.challenge !== undefined) {
    const { server_id: serverId = null } = request.params as { server_id?: string };
    const fault = request.headers.authorization === undefined ? null : 'invalid_token';
    const why = error.status === 403 ? 'insufficient_scope' : fault;
    const address = addressFor(deps.publicUrl, request.headers.host);
    const header = challengeHeader(address, serverId, error.challenge, why);
    reply.header('www-authenticate', header);
  }
  return sendError(reply, status, id, described);
}

function describe(error: unknown): Pick<Refusal, 'status' | 'code' | 'message' | 'data'> {
  if (error instanceof GatewayError) return error;
  if (error instanceof BodiesBusyError) {
    return { status: 503, code: RPC_ERRORS.INTERNAL, message: error.message };
  }
  // Thrown by the whole server's hooks, such as the one that checks Host.
  if (error instanceof AppError && error.status < 500) {
    return { status: error.status, code: RPC_ERRORS.INVALID_REQUEST, message: error.detail };
  }
  const { statusCode: status = 500 } = frameworkFieldsOf(error);
  if (status >= 500) return { status: 500, code: RPC_ERRORS.INTERNAL, message: 'Internal error' };
  const message = CLIENT_ERRORS[status] ?? 'The request is malformed.';
  return { status, code: RPC_ERRORS.INVALID_REQUEST, message };
}

const CLIENT_ERRORS: Record<number, string> = {
  413: 'The body is larger than this route accepts.',
  415: 'The content type must be application/json.',
};
