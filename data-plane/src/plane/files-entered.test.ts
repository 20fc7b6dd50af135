/**
 * Counts with V8's coverage in how many files of the data plane a function runs during a governed
 * call: whoever follows a call opens these (ADR 79).
 */
import { Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { inspection } from '../enforcement/inspection.ts';
import { enforcement } from '../enforcement/pipeline.ts';
import { HTTP_SERVER, startTestPlane } from '../testing/test-plane.ts';
import { startTestUpstream } from '../testing/test-upstream.ts';

/**
 * The way is what is read to follow a call from its route to the ledger and the server. The steps
 * are read one by one: two pages list them, and each has a file of its own. The rest is what the way
 * asks: ledger, replica, sessions with servers.
 */
const MOST = { way: 35, steps: enforcement.steps.length + inspection.steps.length, asked: 47 };
const STEPS = 'enforcement/steps/';
const WAY = /^(?:gateway|enforcement)\//;
const SOURCE = /\/data-plane\/src\/((?!testing\/).+(?<!\.test)\.ts)/;

/**
 * A file counts if half of the calls enter it: timers and other background work do not reach that,
 * however slow the machine, and a call whose outcome joins the next one's commit does not lower it.
 */
const CALLS = 20;

it(`a governed call enters at most ${MOST.way} files beside the steps between its route, the ledger and the server`, async () => {
  const upstream = await startTestUpstream();
  const plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  const session = new Session();
  session.connect();
  try {
    const headers = { authorization: plane.addAgent().bearer() };
    const params = { name: 'echo', arguments: { text: 'x' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const call = async () => {
      const { json } = await plane.post('/mcp/v1/up', message, headers);
      expect(json.result).toBeDefined();
    };
    // Warm-up: sessions are open, tokens and tools are known.
    await call();

    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    for (let i = 0; i < CALLS; i++) await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');

    const entered = result.flatMap(({ url, functions }) => {
      const path = SOURCE.exec(url)?.[1];
      if (path === undefined) return [];
      // Module bodies, and the wrappers of the test runner, are not functions of the source.
      const ran = functions.some(({ functionName, ranges }) => {
        const isOwn = functionName !== '' && functionName !== 'get';
        return isOwn && ranges.some(({ count }) => count >= CALLS / 2);
      });
      return ran ? [path] : [];
    });
    const all = [...new Set(entered)].sort();
    const steps = all.filter((path) => path.startsWith(STEPS));
    const way = all.filter((path) => WAY.test(path) && !path.startsWith(STEPS));
    const asked = all.length - way.length - steps.length;
    console.info(`a call enters ${all.length} files: way ${way.length}, steps ${steps.length}`);

    // Proof that counting worked: a call leads through these.
    const known = ['gateway/router.ts', 'enforcement/enforcer.ts', 'ledger/ledger-writer.ts'];
    expect(all).toEqual(expect.arrayContaining([...known, `${STEPS}policy.ts`]));
    expect(way.length, way.join('\n')).toBeLessThanOrEqual(MOST.way);
    expect(steps.length, steps.join('\n')).toBeLessThanOrEqual(MOST.steps);
    expect(asked, all.join('\n')).toBeLessThanOrEqual(MOST.asked);
  } finally {
    session.disconnect();
    await plane.stop();
    await upstream.stop();
  }
});
