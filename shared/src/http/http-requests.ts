/** How requests are read in both planes: validated by zod schemas, parsed as strict JSON. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { AppError } from '../errors.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { findMisclaim } from './body-charset.ts';
import { type BodyHolder, createBodyTurns } from './body-turns.ts';
import { RequestInvalid } from './http-errors.ts';
import { readRequestBody } from './request-body.ts';

/** Nesting of objects and arrays in a body. */
const MAX_BODY_DEPTH = 32;

/** Values and keys in a body: no request of the API comes near. */
const MAX_BODY_NODES = 20_000;

/** Characters of an Authorization header: longer ones are not read. */
const MAX_AUTHORIZATION = 8192;

/**
 * Makes a scope validate by zod schemas and read JSON strictly, and all bodies as UTF-8.
 *
 * @param app a scope of its own (inside `register`): what is set here does not reach its parent
 * @param holderOf whose a large body is, of which one is read at a time; their address by default
 */
export function readStrictRequests(
  app: FastifyInstance,
  holderOf: (request: FastifyRequest) => BodyHolder = byAddress,
): void {
  const turns = createBodyTurns();
  app.setValidatorCompiler(({ schema }) => (data: unknown) => {
    const result = (schema as unknown as z.ZodType).safeParse(data);
    return result.success
      ? { value: result.data }
      : { error: new RequestInvalid(result.error.issues) };
  });
  // No body is of no type: some clients name one all the same, as `curl -d ''` does.
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-length'] === '0') delete headers['content-type'];
    done();
  });
  // A GET's body is not read.
  app.addHook('preParsing', ({ method, headers }, _reply, _payload, done) => {
    const misclaim = method === 'GET' ? undefined : findMisclaim(headers);
    done(misclaim === undefined ? null : new AppError('UNSUPPORTED_MEDIA_TYPE', misclaim));
  });
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const body = await readRequestBody(request, payload);
      // An empty body counts as none: routes without a body still accept the header.
      if (body.length === 0) return undefined;
      await turns.take(holderOf(request), body.length);
      return parseStrictJson(body, { maxDepth: MAX_BODY_DEPTH, maxNodes: MAX_BODY_NODES });
    },
  );
}

function byAddress({ ip }: FastifyRequest): BodyHolder {
  return { tenantId: ip, callerId: ip };
}

/** The token of an `Authorization: Bearer` header, if there is one. */
export function bearerToken(header: string | undefined): string | undefined {
  // caller-controlled
  if (header !== undefined && header.length > MAX_AUTHORIZATION) return undefined;
  return /^Bearer +([\w\-.~+/]+=*)$/i.exec(header ?? '')?.[1];
}
