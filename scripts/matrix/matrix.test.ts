/**
 * A part of the matrix that is quick enough for every run: the SDK clients of both eras with a
 * server of either era, in the test's process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  HTTP_SERVER,
  STDIO_SERVER,
  startTestPlane,
  type TestPlane,
} from '@governance/data-plane/testing/test-plane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATHS, runCell, SCHEMES } from './cell.ts';
import { STEPS } from './client.ts';
import { startModernServer } from './modern-server.ts';
import { SDK_V1, SDK_V2_LEGACY, SDK_V2_MODERN } from './sdk-clients.ts';
import { EVERYTHING_STDIO, MODERN, POLICY, serverEntry } from './servers.ts';

let plane: TestPlane;
let modern: Awaited<ReturnType<typeof startModernServer>>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'governance-matrix-'));
  modern = await startModernServer();
  const args = [serverEntry('server-everything'), 'stdio'];
  const everything = { command: process.execPath, args, env: {}, cwd: folder };
  plane = await startTestPlane({
    servers: [HTTP_SERVER(MODERN.id, modern.url), STDIO_SERVER(EVERYTHING_STDIO.id)],
    stdioServers: new Map([[EVERYTHING_STDIO.id, everything]]),
    policies: [{ id: 'matrix', name: 'Forbidden in the matrix', rego: POLICY }],
  });
});

afterAll(async () => {
  await plane?.stop();
  await modern?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([SDK_V1, SDK_V2_LEGACY, SDK_V2_MODERN])('$title', (client) => {
  describe.each([MODERN, EVERYTHING_STDIO])('with $title', (server) => {
    it.each(PATHS)('does everything at the %s path', async (path) => {
      const agent = plane.addAgent([`${MODERN.id}:*`, `${EVERYTHING_STDIO.id}:*`]);
      const authorizations = { Basic: agent.basic, Bearer: agent.bearer() };
      const scheme = SCHEMES[path === 'direct' ? 0 : 1];
      const place = { url: plane.url, authorization: authorizations[scheme], folder };
      const { failure, done } = await runCell({ client, server, scheme, path }, place);
      expect(failure).toBeUndefined();
      expect(done).toEqual(STEPS);
    });
  });
});
