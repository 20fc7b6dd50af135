/** An OPA server for tests, which answers with what the test says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PolicyInput, PolicyVerdict } from '@governance/policies/contract';
import { parseOpaAddress } from '../opa-server/opa-address.ts';
import { startTestPlane, type TestPlaneOptions } from './test-plane.ts';

/**
 * Starts a plane that asks an OPA server.
 *
 * @param verdict is called for each question, before it is answered
 */
export async function startOpaPlane(
  options: TestPlaneOptions,
  verdict: (input: PolicyInput) => PolicyVerdict,
) {
  let tenantId = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        const isProbe = request.url?.includes('settings/tenant_id');
        const asked = () => JSON.parse(Buffer.concat(chunks).toString()) as { input: PolicyInput };
        const result = isProbe ? tenantId : verdict(asked().input);
        const provenance = { bundles: { governance: { revision: '1' } } };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ result, provenance }));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = parseOpaAddress(`http://127.0.0.1:${port}`);
  const opa = { address, failClosed: true, token: null, timeoutMs: 2_000, connections: 4 } as never;
  const plane = await startTestPlane({ ...options, config: { ...options.config, opa } });
  ({ tenantId } = plane);
  return {
    ...plane,
    stop: async () => {
      await plane.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}
