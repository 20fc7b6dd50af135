import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseBody } from './body.ts';
import type { Caller } from './caller.ts';
import { isModern } from './modern/envelope.ts';

/** What answers a POST of one era. */
export interface EraHandler {
  post(caller: Caller, request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<void>;
}

/**
 * Gives each POST to the era that it speaks; both are served at the same paths.
 *
 * The function that it returns throws GatewayError.
 */
export function createPost(legacy: EraHandler, modern: EraHandler, maxNodes: number) {
  return async (caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const body = parseBody(request.body, maxNodes);
    const era = isModern(request.headers, body) ? modern : legacy;
    await era.post(caller, request, reply, body);
  };
}
