/**
 * Calls a service as a well-behaved agent, one call after the other, and times each. It runs in a
 * separate process, since the one that sends hostile bodies is too busy. Each message from the
 * parent is answered with the times since the last one.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const { PROBE_URL: url = '', PROBE_AUTHORIZATION: authorization = '' } = process.env;
const BETWEEN_MS = 5;
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const headers = {
  authorization,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

let times: number[] = [];
process.on('message', () => {
  process.send?.(times);
  times = [];
});
process.on('disconnect', () => process.exit());

for (;;) {
  const began = performance.now();
  const answer = await fetch(url, { method: 'POST', headers, body: PING });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`a probe was answered ${answer.status}`);
  times.push(performance.now() - began);
  await sleep(BETWEEN_MS);
}
