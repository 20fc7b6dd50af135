/**
 * The load generator, in a separate process so that its cost is not counted as the proxy's. Each of
 * its connections has one request in flight; an answer that is not a JSON-RPC result is a failure.
 */
import { createHistogram } from 'node:perf_hooks';
import { Client } from 'undici';

const { ORIGIN, PATH_, CONNECTIONS, SECONDS, CALLS, HEADERS, BODY } = process.env as Record<
  string,
  string
>;

const headers = JSON.parse(HEADERS as string) as Record<string, string>;
const latency = createHistogram();
let requests = 0;
let failed = 0;
let firstFailure: string | undefined;

const started = performance.now();
const ends = started + Number(SECONDS) * 1000;
/** If given, the number of calls to make instead of a time to run. */
const calls = CALLS ? Number(CALLS) : null;
let begun = 0;
const goesOn = () => (calls === null ? performance.now() < ends : begun++ < calls);

async function keepCalling(client: Client): Promise<void> {
  while (goesOn()) {
    const at = process.hrtime.bigint();
    const response = await client.request({
      method: 'POST',
      path: PATH_ as string,
      headers,
      body: BODY as string,
    });
    const text = await response.body.text();
    latency.record(process.hrtime.bigint() - at);
    requests += 1;
    if (response.statusCode !== 200 || !text.includes('"result"')) {
      failed += 1;
      firstFailure ??= `${response.statusCode} ${text.slice(0, 200)}`;
    }
  }
  await client.close();
}

const clients = Array.from(
  { length: Number(CONNECTIONS) },
  () => new Client(ORIGIN as string, { pipelining: 1 }),
);
await Promise.all(clients.map(keepCalling));
const seconds = (performance.now() - started) / 1000;

console.log(
  JSON.stringify({
    requests,
    seconds,
    mean_ms: latency.mean / 1e6,
    p50_ms: latency.percentile(50) / 1e6,
    p99_ms: latency.percentile(99) / 1e6,
    failed,
    first_failure: firstFailure,
  }),
);
