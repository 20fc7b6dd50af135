/**
 * One mapping from what was thrown to what is answered (specification 1, section 7). Only an
 * AppError's own text reaches a caller; anything unexpected gives a request id and nothing else.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, type ErrorCode, type FieldError } from '../errors.ts';
import { StrictJsonError } from '../json/strict-json.ts';
import { BodiesBusyError } from './body-turns.ts';
import { keepUntilSent } from './request-body.ts';

/** The body of every error (specification 1, section 7); `errors` only on 422. */
export const ErrorBody = z
  .object({
    detail: z.string(),
    errors: z
      .array(
        z.object({
          loc: z.array(z.union([z.string(), z.number()])),
          msg: z.string(),
          type: z.string(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Error' });

/** Thrown by the validator; Fastify adds which part of the request it was. */
export class RequestInvalid extends Error {
  readonly issues: z.core.$ZodIssue[];
  validationContext?: string;

  constructor(issues: z.core.$ZodIssue[]) {
    super('the request does not match its schema');
    this.issues = issues;
  }
}

/**
 * The body of an error of the token route: for a form, which OAuth clients send, it also follows
 * RFC 6749 section 5.2.
 */
export const TokenErrorBody = ErrorBody.extend({
  error: z.string().optional(),
  error_description: z.string().optional(),
}).meta({ id: 'TokenError' });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Errors for forms also use OAuth's codes. */
    oauthErrors?: true;
  }
}

/** RFC 6749 section 5.2 and RFC 8707 section 2; the others stand for what a client can do. */
const OAUTH_ERRORS: Partial<Record<ErrorCode, string>> = {
  UNSUPPORTED_GRANT: 'unsupported_grant_type',
  INVALID_TARGET: 'invalid_target',
  BAD_CREDENTIALS: 'invalid_client',
  AGENT_SUSPENDED: 'unauthorized_client',
  RATE_LIMITED: 'temporarily_unavailable',
  UNAVAILABLE: 'temporarily_unavailable',
  INTERNAL: 'server_error',
};

const FRAMEWORK_ERRORS: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BAD_REQUEST',
  FST_ERR_BAD_URL: 'BAD_REQUEST',
};

/** What the framework says about an error. Anything can be thrown, also null. */
export function frameworkFieldsOf(
  thrown: unknown,
): Pick<Partial<FastifyError>, 'code' | 'statusCode'> {
  return (thrown ?? {}) as Partial<FastifyError>;
}

/** @returns the answer, or undefined for an unexpected error */
function toAppError(error: unknown, isAway: (error: unknown) => boolean): AppError | undefined {
  if (error instanceof AppError) return error;
  if (error instanceof RequestInvalid) return invalidRequest(error);
  if (error instanceof StrictJsonError) return new AppError('MALFORMED_JSON', error.message);
  if (error instanceof BodiesBusyError) return new AppError('UNAVAILABLE', error.message);
  const { code, statusCode } = frameworkFieldsOf(error);
  const known = code === undefined ? undefined : FRAMEWORK_ERRORS[code];
  if (known) return new AppError(known);
  // Any other error that the framework attributes to the request.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new AppError('BAD_REQUEST');
  }
  if (isAway(error)) return new AppError('UNAVAILABLE', undefined, { cause: error });
  return undefined;
}

/** Fields listed in an answer, at most. */
const MAX_FIELD_ERRORS = 50;

function invalidRequest({ issues, validationContext }: RequestInvalid): AppError {
  // A malformed id names nothing: the same answer as for another tenant's row.
  if (validationContext === 'params') return new AppError('NOT_FOUND');
  const where = validationContext === 'querystring' ? 'query' : (validationContext ?? 'body');
  // A body can be wrong in more places than anybody reads, each described at length.
  const errors = issues
    .slice(0, MAX_FIELD_ERRORS)
    .flatMap((issue) => toFieldErrors(issue, where))
    .slice(0, MAX_FIELD_ERRORS);
  // Two rules of one field may say the same of it.
  const named = new Set(errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`));
  return new AppError('VALIDATION_FAILED', [...named].join('; '), { errors });
}

function toFieldErrors(issue: z.core.$ZodIssue, where: string): FieldError[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const loc = [where, ...path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_FIELD_ERRORS).map((key) => ({
      loc: [...loc, key.slice(0, 200)],
      msg: 'is not a field of this request',
      type: issue.code,
    }));
  }
  return [{ loc, msg: messageOf(issue), type: issue.code ?? 'custom' }];
}

const MISSING = /^Invalid input: (expected .{1,200}), received undefined$/;

const NO_BODY = /^Invalid input: (expected .{1,200}), received null$/;

/** JSON has no undefined: a field of which the schema says that is not there. No body is null. */
function messageOf({ message, path }: z.core.$ZodIssue): string {
  return message.replace(path.length === 0 ? NO_BODY : MISSING, 'is required: $1');
}

/** How often the log says of one outage that requests fail. */
const SAY_AGAIN_MS = 5_000;
const MAX_OUTAGES = 100;

/**
 * Says once in five seconds that something is out of reach: while the database is away, every poll
 * of every data plane fails.
 */
function createOutageLog() {
  const reported = new Map<string, { at: number; leftOut: number }>();
  return ({ log }: FastifyRequest, { message }: AppError, err: unknown): void => {
    const before = reported.get(message);
    const at = performance.now();
    if (before && at - before.at < SAY_AGAIN_MS) {
      before.leftOut++;
      log.debug({ err }, message);
      return;
    }
    if (reported.size >= MAX_OUTAGES) reported.clear();
    reported.set(message, { at, leftOut: 0 });
    const { leftOut = 0 } = before ?? {};
    log.error({ err, ...(leftOut > 0 && { leftOut }) }, message);
  };
}

/** Retry-After in seconds, by status, where nothing else says when to come back. */
const RETRY_AFTER: Partial<Record<number, number>> = { 429: 60, 503: 5 };

/**
 * The handler of a plane's HTTP API.
 *
 * @param isAway whether an error says that something the service needs is out of reach just now,
 *   which is a 503 and no fault of the code
 * @param hasOwnPauses whether a request's sender decides by itself when to come back after a 503
 */
export function createErrorHandler(
  isAway: (error: unknown) => boolean = () => false,
  hasOwnPauses: (request: FastifyRequest) => boolean = () => false,
) {
  const logOutage = createOutageLog();
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // A route may have begun to answer in another form.
    reply.type('application/json; charset=utf-8');
    keepUntilSent(error, request, reply);
    const known = toAppError(error, isAway);
    if (!known) {
      if (isOfLeaving(error, reply)) request.log.debug({ err: error }, 'the caller left');
      else request.log.error({ err: error }, 'unexpected error');
      const detail = `Something went wrong on our side. Request id: ${request.id}`;
      void reply.code(500).send({ detail, ...inOAuthWords('INTERNAL', detail, request) });
      return;
    }
    const { status, code, detail, errors, retryAfterSeconds } = known;
    const err = known.cause ?? known;
    if (code === 'UNAVAILABLE') logOutage(request, known, err);
    else if (status >= 500) request.log.error({ err }, detail);
    if (status === 401 && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', 'Bearer');
    }
    const usual = status === 503 && hasOwnPauses(request) ? undefined : RETRY_AFTER[status];
    const retryAfter = retryAfterSeconds ?? usual;
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) {
      reply.header('retry-after', String(retryAfter));
    }
    const words = inOAuthWords(code, detail, request);
    void reply.code(status).send({ detail, ...(errors && { errors }), ...words });
  };
}

/** Whether it only says that what was under way for a caller ended, since the caller left. */
function isOfLeaving(thrown: unknown, reply: FastifyReply): boolean {
  if (!reply.raw.destroyed || !(thrown instanceof Error)) return false;
  const { code } = frameworkFieldsOf(thrown);
  return thrown.name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** RFC 6749's additions to the specification's body, for OAuth callers. */
function inOAuthWords(
  code: ErrorCode,
  detail: string,
  request: FastifyRequest,
): { error: string; error_description: string } | undefined {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(
    request.headers['content-type'] ?? '',
  );
  if (!isForm || request.routeOptions.config.oauthErrors !== true) return undefined;
  return {
    error: OAUTH_ERRORS[code] ?? 'invalid_request',
    // The characters that RFC 6749 section 5.2 allows there.
    error_description: detail.replaceAll('"', "'").replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?'),
  };
}
