/** Witnesses that keep to C2SP tlog-witness, and some that do not. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  cosignCheckpoint,
  isCheckpointSignedBy,
  isCosignedBy,
  parseCheckpoint,
  parseSignature,
} from '@governance/shared/evidence/checkpoint';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { isConsistent } from '@governance/shared/evidence/merkle-proofs';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { createWitnessTask } from './witness-task.ts';

vi.setConfig({ testTimeout: 60_000 });

const NAME = 'witness.example/w1';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk;

let answer: 'honest' | 'forges' | 'redirects' | 'large' | 'ahead' | 'dies';
let logKey: PublicJwk;
const held = new Map<string, { size: number; root: string }>();
const asked: string[] = [];

/** As the specification says, in its order. */
function judge(body: string): { status: number; text: string } {
  const [, old, proof, note] = /^old (\d+)\n((?:[A-Za-z0-9+/=]+\n)*)\n([\s\S]+)$/.exec(body) ?? [];
  const signed = parseCheckpoint(note ?? '');
  const { origin, size, root } = signed.checkpoint;
  if (!isCheckpointSignedBy(signed, logKey)) return { status: 403, text: '' };
  if (Number(old) > size) return { status: 400, text: '' };
  const known = held.get(origin) ?? { size: 0, root: createHash('sha256').digest('hex') };
  if (Number(old) !== known.size) return { status: 409, text: `${known.size}\n` };
  const lines = (proof ?? '').split('\n').slice(0, -1);
  const path = lines.map((line) => Buffer.from(line, 'base64').toString('hex'));
  const sizes = { from: known.size, to: size, fromRoot: known.root, toRoot: root };
  if (!isConsistent({ ...sizes, path })) return { status: 422, text: '' };
  held.set(origin, { size, root });
  const line = cosignCheckpoint(signed.body, { name: NAME, key: privateKey }, 1_780_000_000);
  return { status: 200, text: `${line}\n` };
}

const server = createServer(async (request, response) => {
  const body = await text(request);
  asked.push(`${request.method} ${request.url} ${body.split('\n')[0]}`);
  if (answer === 'dies') response.destroy();
  else if (answer === 'redirects') response.writeHead(307, { location: '/elsewhere' }).end();
  else if (answer === 'large') response.end('x'.repeat(100_000));
  else if (answer === 'ahead') response.writeHead(409).end('999\n');
  else if (answer === 'forges') {
    const other = generateKeyPairSync('ed25519').privateKey;
    const { body: signed } = parseCheckpoint(body.slice(body.indexOf('\n\n') + 2));
    response.end(`${cosignCheckpoint(signed, { name: NAME, key: other }, 1)}\n`);
  } else {
    const said = judge(body);
    response.writeHead(said.status, { 'content-type': 'text/x.tlog.size' }).end(said.text);
  }
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => void server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/w`;

const typed = Buffer.concat([Buffer.from([4]), Buffer.from(String(jwk.x), 'base64url')]);
const id = createHash('sha256').update(`${NAME}\n`).update(typed).digest('hex').slice(0, 8);

let time = Date.now();
const { call, aTenantAdmin, controlPlane, test } = await testControlPlane({
  now: () => new Date(time),
  env: {
    SERVICE_CHECKPOINT_SECONDS: '1',
    SERVICE_EVIDENCE_WITNESS_URLS: `${NAME}+${id}+${typed.toString('base64')} ${url}/`,
  },
});
const { db, breaks, config } = controlPlane;
const task = createWitnessTask({
  ...{ db, breaks, witnesses: config.witnesses, now: () => new Date(time) },
});
logKey = (await controlPlane.serviceKeys.evidenceKey('checkpoint')).publicJwk;

let token: string;
let tenantId: string;
beforeEach(async () => {
  answer = 'honest';
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
});

const newest = async () =>
  (await call('/api/v1/evidence/checkpoints', { token })).json().checkpoints[0];
const witness = async () =>
  (await call('/api/v1/evidence/witnesses', { token })).json().witnesses[0];
const cosign = () => task.cosign(tenantId, new AbortController().signal);

async function grow(): Promise<number> {
  const before = (await newest())?.size ?? 0;
  const body = { name: `role-${before}-${time}`, description: '', permissions: [] };
  expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
  return vi.waitFor(
    async () => {
      const { size = 0 } = (await newest()) ?? {};
      if (size <= before) throw new Error('the log has not grown');
      return size;
    },
    { timeout: 20_000, interval: 100 },
  );
}

describe('a witness', () => {
  it('cosigns what continues the log, and its line is kept with the checkpoint', async () => {
    for (let n = 0; n < 3; n++) {
      const size = await grow();
      await cosign();
      expect(await witness()).toMatchObject({ name: NAME, size, failure: null });
    }
    const { rows } = await test.superuser.query(
      'SELECT size, note, line FROM log_cosignatures WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows.length).toBeGreaterThanOrEqual(3);
    for (const { note, line } of rows) {
      const { body } = parseCheckpoint(note);
      expect(isCosignedBy(body, parseSignature(line), { name: NAME, key: jwk })).toBe(true);
    }
  });

  it('is asked from the size that it names, where another is remembered here', async () => {
    await grow();
    await cosign();
    await test.superuser.query('DELETE FROM log_witnesses WHERE tenant_id = $1', [tenantId]);
    const size = await grow();
    asked.length = 0;
    await cosign();
    expect(asked[0]).toBe('POST /w/add-checkpoint old 0');
    expect(await witness()).toMatchObject({ size, failure: null });
  });

  it.each([
    ['forges', 'its cosignature does not hold'],
    ['redirects', 'it answered 307'],
    ['large', 'the answer is too large'],
    ['dies', 'the connection failed: UND_ERR_SOCKET'],
  ] as const)('that %s is shown as failing, nothing is kept, and it rests', async (how, failure) => {
    answer = how;
    await grow();
    await cosign();
    expect(await witness()).toMatchObject({ size: 0, failure, cosigned_at: null });
    time += 60_000;
    await cosign();
    asked.length = 0;
    time += 30_000;
    await cosign();
    expect(asked).toEqual([]);
    answer = 'honest';
    time += 60_000;
    await cosign();
    expect(await witness()).toMatchObject({ failure: null, failing_since: null });
  });

  it('that holds a larger log than there is makes a break, once', async () => {
    answer = 'ahead';
    await grow();
    for (let n = 0; n < 3; n++) {
      await cosign();
      time += 3_600_000;
    }
    const { breaks } = (await call('/api/v1/audit/chain/breaks', { token })).json();
    expect(breaks).toMatchObject([{ kind: 'log_went_back', seq: 999 }]);
  });
});
