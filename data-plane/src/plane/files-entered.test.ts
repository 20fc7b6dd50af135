/**
 * Counts with V8's coverage in how many files of the gateway and of enforcement a function runs
 * during a governed call: its path from the route to the ledger and the server can be read in no
 * more files.
 */
import { Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane } from '../testing/test-plane.ts';
import { startTestUpstream } from '../testing/test-upstream.ts';

/** Not counting the steps: those are listed on two pages, and each has a file of its own. */
const MAX_FILES = 34;
const SOURCE = /\/data-plane\/src\/((?:gateway|enforcement)\/.+\.ts)/;

it(`a governed call enters at most ${MAX_FILES} files beside the steps between its route, the ledger and the server`, async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 300));

    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');

    const entered = result.flatMap(({ url, functions }) => {
      const path = SOURCE.exec(url)?.[1];
      if (path === undefined) return [];
      // Module bodies, and the wrappers of the test runner, are not functions of the source.
      const names = functions
        .filter(({ functionName, ranges }) => {
          const isOwn = functionName !== '' && functionName !== 'get';
          return isOwn && ranges.some(({ count }) => count > 0);
        })
        .map(({ functionName }) => functionName);
      return names.length > 0 ? [`${path}: ${names.join(' ')}`] : [];
    });
    // Proof that counting worked: the path leads through these.
    expect(entered.join('\n')).toMatch(/enforcement\/enforcer\.ts[\s\S]*gateway\/router\.ts/);
    const way = entered.filter((line) => !line.startsWith('enforcement/steps/')).sort();
    expect(way.length, way.join('\n')).toBeLessThanOrEqual(MAX_FILES);
  } finally {
    session.disconnect();
    await plane.stop();
    await upstream.stop();
  }
});
