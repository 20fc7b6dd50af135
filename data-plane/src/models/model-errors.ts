/**
 * How a refused request to a model is answered: `detail` as everywhere below /api/v1, and `error` in
 * the form in which clients of the path's style read it. The table is in docs/local-models.md.
 */

import { AppError, type ErrorCode, RPC_ERRORS } from '@governance/shared/errors';
import { BodiesBusyError } from '@governance/shared/http/body-turns';
import { frameworkFieldsOf } from '@governance/shared/http/http-errors';
import { keepUntilSent } from '@governance/shared/http/request-body';
import { StrictJsonError } from '@governance/shared/json/strict-json';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRefusal, type Refusal } from '../enforcement/call/answer.ts';
import { GatewayError } from '../gateway/json-rpc.ts';
import type { ModelStyle } from './model-apis.ts';

/** What an agent learns about its call in addition to the message. */
const TOLD = ['event_id', 'reasons', 'reason', 'needed_permission'];

/** Retry-After in seconds, where nothing else gives a time. */
const RETRY_SECONDS = 2;

/** Answers an error that was thrown, or a refusal. */
export function answerError(
  thrown: unknown,
  style: ModelStyle,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toAppError(thrown);
  keepUntilSent(thrown, request, reply);
  if (error.code === 'INTERNAL') request.log.error({ err: thrown }, 'a request to a model failed');
  const { detail, errors, status } = error;
  const data = isRefusal(thrown) ? (thrown.data ?? {}) : {};
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (status === 429 || status === 503) {
    reply.header('retry-after', String(data.retry_after ?? RETRY_SECONDS));
  }
  const shown = TOLD.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]]));
  return reply.code(status).send({
    detail,
    ...(errors && { errors }),
    ...(Object.fromEntries(shown) as Record<string, unknown>),
    error: errorMember(style, error.code, detail),
  });
}

/** The member `error`, as clients of a style read it. */
export function errorMember(style: ModelStyle, code: ErrorCode, detail: string) {
  if (style === 'native') return detail;
  return { message: detail, type: 'governance', param: null, code: code.toLowerCase() };
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof GatewayError) {
    return new AppError(OF_STATUS[thrown.status] ?? 'BAD_REQUEST', thrown.message);
  }
  if (isRefusal(thrown)) return ofRefusal(thrown);
  if (thrown instanceof StrictJsonError) return new AppError('MALFORMED_JSON', thrown.message);
  if (thrown instanceof BodiesBusyError) return new AppError('UNAVAILABLE', thrown.message);
  const { statusCode = 500 } = frameworkFieldsOf(thrown);
  if (statusCode === 413) return new AppError('BODY_TOO_LARGE');
  return new AppError(statusCode >= 400 && statusCode < 500 ? 'BAD_REQUEST' : 'INTERNAL');
}

/** The codes of what was refused before it became a call: for its sender, or its size. */
const OF_STATUS: Record<number, ErrorCode> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  503: 'UNAVAILABLE',
};

/** The codes for enforcement's JSON-RPC codes. */
const OF_CODE: Record<number, ErrorCode> = {
  [RPC_ERRORS.UNAUTHORIZED]: 'UNAUTHENTICATED',
  [RPC_ERRORS.POLICY_DENIED]: 'CALL_DENIED',
  [RPC_ERRORS.ESCALATED]: 'CALL_ESCALATED',
  [RPC_ERRORS.RATE_LIMITED]: 'RATE_LIMITED',
  [RPC_ERRORS.INVALID_PARAMS]: 'BODY_TOO_LARGE',
};

function ofRefusal({ code, message, data, failure }: Refusal): AppError {
  const known = OF_CODE[code];
  if (known !== undefined) return new AppError(known, message);
  switch (failure?.kind) {
    case undefined:
      return new AppError(data?.failure === 'loop' ? 'BAD_REQUEST' : 'UNAVAILABLE', message);
    case 'unreachable':
      return new AppError('MODEL_RUNTIME_UNREACHABLE');
    case 'timeout':
      return new AppError('MODEL_RUNTIME_TIMEOUT');
    case 'busy':
      return new AppError('UNAVAILABLE', 'Busy: too many requests to models are under way.');
    default:
      return new AppError('MODEL_RUNTIME_MALFORMED');
  }
}
