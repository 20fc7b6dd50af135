/**
 * Over real connections: who begins bodies and does not finish them keeps no other data plane of the
 * tenant from delivering, not with all the tokens of a revoked root.
 */
import { type AddressInfo, connect, type Socket } from 'node:net';
import { CHANNEL_PATHS, encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, expect, it } from 'vitest';
import { aDecision, createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { app, call, aTenantAdmin } = await testControlPlane();
await app.listen({ port: 0, host: '127.0.0.1' });
const { token: admin } = await aTenantAdmin();
const TOKENS = '/api/v1/admin/data-plane-tokens';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const aRoot = async (): Promise<{ id: string; token: string }> =>
  (await call(TOKENS, { token: admin, body: { label: 'x' } })).json();

async function join(root: { token: string }) {
  const keys = aRegistration();
  const body = keys.provenWith(root.token);
  const answer = await call(CHANNEL_PATHS.register, { token: root.token, body });
  const reply = RegistrationReply.parse(answer.json());
  const id = reply.deployment_id;
  return {
    id,
    token: reply.token.token,
    writer: createWriter(reply.tenant_id, id, keys.signingKey),
  };
}
type Plane = Awaited<ReturnType<typeof join>>;

/** Begins a body of unknown length and sends one byte of it. */
async function begin(path: string, { token }: Plane, type: string): Promise<void> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  // Ended by the server where it is too much.
  socket.on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
}

async function holdAll(plane: Plane): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await begin(CHANNEL_PATHS.auditBatches(plane.id), plane, NDJSON);
    await begin(CHANNEL_PATHS.payloads(plane.id), plane, 'application/json');
  }
}

async function deliver({ id, token, writer }: Plane): Promise<number[]> {
  writer.boot();
  writer.append(aDecision());
  const batch = encodeBatch(writer.batch(0));
  const headers = { 'content-type': NDJSON };
  const payloads = [{ event_id: uuidv7(), part: 'input', jwe: 'a..b.c.d' }];
  const answers = [
    await call(CHANNEL_PATHS.auditBatches(id), { token, body: batch, headers }),
    await call(CHANNEL_PATHS.payloads(id), { token, body: { payloads } }),
  ];
  return answers.map(({ statusCode }) => statusCode);
}

it('one data plane leaves room for the others', async () => {
  const root = await aRoot();
  const [other, own] = [await join(root), await join(root)];
  await holdAll(other);
  expect(await deliver(other)).toEqual([503, 503]);
  expect(await deliver(own)).toEqual([200, 200]);
});

it('all of a revoked root together leave room for the others', async () => {
  const stolen = await aRoot();
  const others = [await join(stolen), await join(stolen), await join(stolen), await join(stolen)];
  const revoked = await call(`${TOKENS}/${stolen.id}`, { token: admin, method: 'DELETE' });
  expect(revoked.statusCode).toBe(204);
  for (const other of others) await holdAll(other);
  expect(await deliver(await join(await aRoot()))).toEqual([200, 200]);
});
