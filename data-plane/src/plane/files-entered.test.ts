/**
 * In how many files of the gateway and of enforcement a function runs while a governed call is under
 * way, counted by V8: its way from the route to the ledger and the server is read in no more.
 */
import { Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane } from '../testing/test-plane.ts';
import { startTestUpstream } from '../testing/test-upstream.ts';

/** Beside the steps: those are listed on two pages, and each has a file of its own. */
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
    // Sessions are opened, tokens and tools are known.
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
      // Modules, and what the test's runner makes of exports, are no functions of the source.
      const names = functions
        .filter(({ functionName, ranges }) => {
          const isOwn = functionName !== '' && functionName !== 'get';
          return isOwn && ranges.some(({ count }) => count > 0);
        })
        .map(({ functionName }) => functionName);
      return names.length > 0 ? [`${path}: ${names.join(' ')}`] : [];
    });
    // It was counted at all, and the way leads through these.
    expect(entered.join('\n')).toMatch(/enforcement\/enforcer\.ts[\s\S]*gateway\/router\.ts/);
    const way = entered.filter((line) => !line.startsWith('enforcement/steps/')).sort();
    expect(way.length, way.join('\n')).toBeLessThanOrEqual(MAX_FILES);
  } finally {
    session.disconnect();
    await plane.stop();
    await upstream.stop();
  }
});
