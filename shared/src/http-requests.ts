/** How requests are read, whichever plane they reach: by their zod schemas, and as strict JSON. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { RequestInvalid } from './http-errors.ts';
import { parseStrictJson } from './strict-json.ts';

/** Objects and arrays inside each other, in a body. */
const MAX_BODY_DEPTH = 32;

/** Values and keys in a body: no request of the API comes near. */
const MAX_BODY_NODES = 50_000;

/** Characters of an Authorization header: longer ones are read no further. */
const MAX_AUTHORIZATION = 8192;

/**
 * Makes a scope validate by zod schemas and read JSON strictly.
 *
 * @param app a scope of its own (inside `register`): what is set here does not reach its parent
 */
export function readStrictRequests(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema }) => (data: unknown) => {
    const result = (schema as unknown as z.ZodType).safeParse(data);
    return result.success
      ? { value: result.data }
      : { error: new RequestInvalid(result.error.issues) };
  });
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) =>
      // An empty body is none: routes without a body accept the header all the same.
      body.length === 0
        ? undefined
        : parseStrictJson(body, { maxDepth: MAX_BODY_DEPTH, maxNodes: MAX_BODY_NODES }),
  );
}

/** The token of an `Authorization: Bearer` header, if there is one. */
export function bearerToken(header: string | undefined): string | undefined {
  // caller-controlled
  if (header !== undefined && header.length > MAX_AUTHORIZATION) return undefined;
  return /^Bearer +([\w\-.~+/]+=*)$/i.exec(header ?? '')?.[1];
}
