/** A stream whose reading is costly rests, so that a server that floods it waits itself. */
import type { Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import { HttpExchange } from './http-exchange.ts';

it('pauses after costly events, and goes on', async () => {
  const done: string[] = [];
  const controller = {
    pause: () => done.push('pause'),
    resume: () => done.push('resume'),
    abort: () => done.push('abort'),
  } as unknown as Dispatcher.DispatchController;
  const exchange = new HttpExchange(
    {
      onMessage: () => {
        const begun = performance.now();
        while (performance.now() - begun < 5);
      },
      onEnd: () => undefined,
    },
    1024,
  );
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, { 'content-type': 'text/event-stream' });
  exchange.onResponseData(controller, Buffer.from('data: {}\n\n'));
  expect(done).toEqual(['pause']);
  await expect.poll(() => done).toEqual(['pause', 'resume']);
  exchange.onResponseData(controller, Buffer.from('data: {}\n\n'));
  exchange.abort();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(done).toEqual(['pause', 'resume', 'pause', 'abort']);
});
