/**
 * Where the time of a call goes, in the gateway as production builds it: Fastify hooks before and
 * after the plane's own, and the parts that the plane reports through a diagnostics channel. A
 * call's time is cut at each mark, so that its parts add up to its time in the gateway.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { CALL_STAGES, type PassedStage } from '@governance/data-plane/enforcement/call/call-stages';
import type { FastifyInstance } from 'fastify';

export interface CallTimes {
  calls: number;
  /** Mean microseconds of each part, in the order in which a call passes them. */
  parts: { name: string; us: number }[];
}

interface Running {
  at: number;
  parts: Map<string, number>;
  isToolCall: boolean;
}

export function createCallTimer() {
  const arrived = new WeakMap<IncomingMessage, number>();
  const running = new Map<string, Running>();
  let sums = new Map<string, number>();
  let calls = 0;
  let isOn = false;

  function mark(requestId: string, part: string): void {
    const call = running.get(requestId);
    if (call === undefined) return;
    const now = performance.now();
    call.parts.set(part, (call.parts.get(part) ?? 0) + now - call.at);
    call.at = now;
  }

  const observe = (message: unknown) => {
    const { call, stage } = message as PassedStage;
    const { requestId } = call.caller;
    const found = running.get(requestId);
    if (found !== undefined) found.isToolCall = true;
    mark(requestId, stage);
  };

  /** Must be called before the plane's routes are registered. */
  function watch(app: FastifyInstance): void {
    app.server.prependListener('request', (request: IncomingMessage) => {
      if (isOn) arrived.set(request, performance.now());
    });
    app.addHook('onRequest', (request, _reply, done) => {
      const at = arrived.get(request.raw);
      if (at !== undefined) {
        running.set(request.id, { at, parts: new Map(), isToolCall: false });
        mark(request.id, 'routed');
      }
      done();
    });
    app.addHook('preParsing', (request, _reply, _payload, done) => {
      mark(request.id, 'entered');
      done();
    });
    app.addHook('preValidation', (request, _reply, done) => {
      mark(request.id, 'body-read');
      done();
    });
    app.addHook('onResponse', (request, _reply, done) => {
      mark(request.id, 'answered');
      const call = running.get(request.id);
      running.delete(request.id);
      if (call?.isToolCall) {
        calls++;
        for (const [part, ms] of call.parts) sums.set(part, (sums.get(part) ?? 0) + ms);
      }
      done();
    });
  }

  return {
    watch,
    /** Resets the timer; with `on` false nothing is timed, and the hooks cost next to nothing. */
    reset(on: boolean): void {
      if (on && !isOn) subscribe(CALL_STAGES, observe);
      else if (!on) unsubscribe(CALL_STAGES, observe);
      isOn = on;
      sums = new Map();
      calls = 0;
    },
    read: (): CallTimes => ({
      calls,
      parts: [...sums].map(([name, ms]) => ({ name, us: (ms * 1000) / Math.max(1, calls) })),
    }),
  };
}
