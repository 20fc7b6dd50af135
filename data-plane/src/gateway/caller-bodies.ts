/**
 * Reads the bodies of callers' requests as bytes: only the strict JSON parser makes values of them.
 * Bodies are parsed in turn, within the memory reserved for their agent and tenant.
 */
import { createBodyTurns } from '@governance/shared/body-turns';
import type { FastifyInstance } from 'fastify';
import { createBodyRoom } from './body-room.ts';

/** Where this data plane denies all calls, all bodies share one reservation. */
const NOBODY = { tenantId: '', agent: { id: '' } };

/**
 * Makes a Fastify scope read bodies this way.
 *
 * @param contentType of the bodies that it takes, or `*`
 * @param bodyBytes of one body, at most
 */
export function readCallerBodies(
  app: FastifyInstance,
  contentType: string,
  bodyBytes: number,
): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('denied', null);
  app.decorateRequest('bodyPlace', null);
  const bodies = createBodyRoom(bodyBytes);
  app.addHook('preParsing', (request, reply, _payload, done) => {
    try {
      const place = bodies.take(request.caller ?? NOBODY, request.headers);
      request.bodyPlace = place;
      reply.raw.once('close', place.give);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  const turns = createBodyTurns();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    contentType,
    { parseAs: 'buffer', bodyLimit: bodyBytes },
    (request, body, done) => {
      const { caller, ip, bodyPlace } = request;
      bodyPlace?.arrived(body.length);
      const holder = caller
        ? { tenantId: caller.tenantId, callerId: caller.agent.id }
        : { tenantId: ip, callerId: ip };
      const turn = turns.take(holder, body.length);
      if (turn === undefined) done(null, body);
      else turn.then(() => done(null, body), done);
    },
  );
}
