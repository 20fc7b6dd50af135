/** A C2SP tlog-witness that checks as the specification requires, or misbehaves on request. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isCheckpointSignedBy, parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { EMPTY_ROOT, isConsistent } from '@governance/shared/evidence/merkle-proofs';
import { cosignCheckpoint } from '@governance/shared/testing/test-evidence';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll } from 'vitest';

export type WitnessManner = 'honest' | 'forges' | 'redirects' | 'large' | 'ahead' | 'dies';

export interface TestWitness {
  name: string;
  jwk: PublicJwk;
  /** Its entry of SERVICE_EVIDENCE_WITNESS_URLS. */
  setting: string;
  manner: WitnessManner;
  /** The log keys whose checkpoints it accepts. */
  logKey: PublicJwk | undefined;
  /** The next log key, where it was announced before it signs. */
  nextLogKey: PublicJwk | undefined;
  /** Method, address and first line of each request. */
  asked: string[];
}

export async function aWitness(name: string): Promise<TestWitness> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk;
  const held = new Map<string, { size: number; root: string }>();

  /** In the specification's order. */
  function judge(body: string): { status: number; text: string } {
    const [, old, proof, note] =
      /^old (\d+)\n((?:[A-Za-z0-9+/=]+\n)*)\n([\s\S]+)$/.exec(body) ?? [];
    const signed = parseCheckpoint(note ?? '');
    const { origin, size, root } = signed.checkpoint;
    const known = [witness.logKey, witness.nextLogKey];
    if (!known.some((key) => key !== undefined && isCheckpointSignedBy(signed, key))) {
      return { status: 403, text: '' };
    }
    if (Number(old) > size) return { status: 400, text: '' };
    const place = held.get(origin) ?? { size: 0, root: EMPTY_ROOT };
    if (Number(old) !== place.size) return { status: 409, text: `${place.size}\n` };
    const lines = (proof ?? '').split('\n').slice(0, -1);
    const path = lines.map((line) => Buffer.from(line, 'base64').toString('hex'));
    const sizes = { from: place.size, to: size, fromRoot: place.root, toRoot: root };
    if (!isConsistent({ ...sizes, path })) return { status: 422, text: '' };
    held.set(origin, { size, root });
    const line = cosignCheckpoint(signed.body, { name, key: privateKey }, 1_780_000_000);
    return { status: 200, text: `${line}\n` };
  }

  const server = createPatientServer(async (request, response) => {
    const body = await text(request);
    witness.asked.push(`${request.method} ${request.url} ${body.split('\n')[0]}`);
    const { manner } = witness;
    if (manner === 'dies') response.destroy();
    else if (manner === 'redirects') response.writeHead(307, { location: '/elsewhere' }).end();
    else if (manner === 'large') response.end('x'.repeat(100_000));
    else if (manner === 'ahead') response.writeHead(409).end('999\n');
    else if (manner === 'forges') {
      const other = generateKeyPairSync('ed25519').privateKey;
      const { body: signed } = parseCheckpoint(body.slice(body.indexOf('\n\n') + 2));
      response.end(`${cosignCheckpoint(signed, { name, key: other }, 1)}\n`);
    } else {
      const said = judge(body);
      response.writeHead(said.status, { 'content-type': 'text/x.tlog.size' }).end(said.text);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/w/`;
  const typed = Buffer.concat([Buffer.from([4]), Buffer.from(String(jwk.x), 'base64url')]);
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest('hex').slice(0, 8);
  const setting = `${name}+${id}+${typed.toString('base64')} ${url}`;
  const witness: TestWitness = {
    ...{
      name,
      jwk,
      setting,
      manner: 'honest',
      logKey: undefined,
      nextLogKey: undefined,
      asked: [],
    },
  };
  return witness;
}
