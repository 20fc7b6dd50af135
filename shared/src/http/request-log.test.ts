import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { createHttpServer } from './http-server.ts';

describe("a request's log", () => {
  it('names the request, and is not created for one that logs nothing', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const made: unknown[] = [];
    const { child } = log;
    log.child = function (this: typeof log, ...given: Parameters<typeof child>) {
      made.push(given[0]);
      return child.apply(this, given);
    } as typeof child;
    const app = createHttpServer({ log, corsOrigins: [] });
    app.get('/quiet', async () => 'ok');
    app.get('/loud', { logLevel: 'warn' }, async (request) => {
      request.log.info('left out by the level of the route');
      request.log.warn({ what: 'something' }, 'said');
      request.log.child({ part: 'one' }).error('said by a part');
      return request.id;
    });
    await app.ready();
    made.length = 0;
    await app.inject('/quiet');
    expect(made).toEqual([]);
    const { body: id } = await app.inject('/loud');
    expect(made[0]).toEqual({ reqId: id });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ reqId: id, what: 'something', msg: 'said' }),
      expect.objectContaining({ reqId: id, part: 'one', msg: 'said by a part' }),
    ]);
    await app.close();
  });
});
