import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MAX_PAYLOAD_BYTES,
  PAYLOAD_LIMITS,
  PayloadContent,
} from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { compactDecrypt } from 'jose';
import { expect, it } from 'vitest';
import { openPayloadSpool, type PayloadSpoolOptions } from './payload-spool.ts';

const { privateKey, publicKey } = generateKeyPairSync('x25519');
const sealingKey = {
  kty: 'OKP',
  crv: 'X25519',
  x: String(publicKey.export({ format: 'jwk' }).x),
  kid: 'k',
} as const;

const tenantId = uuidv7();
const aPayload = (text = '{"a":1}', tenant = tenantId) => ({
  content: {
    tenant_id: tenant,
    deployment_id: uuidv7(),
    event_id: uuidv7(),
    part: 'input',
    mode: 'full',
    salt: 'A'.repeat(22),
    text,
  } as const,
  sealingKey,
});

async function aSpool(options: Partial<PayloadSpoolOptions> = {}) {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'payloads-'));
  const lost: unknown[] = [];
  const logged: string[] = [];
  const settings = {
    dir,
    limitBytes: 1e9,
    now: Date.now,
    onLost: (...what: unknown[]) => void lost.push(what),
    log: { error: (_fields: object, message: string) => void logged.push(message) },
    ...options,
  };
  return { dir, lost, logged, spool: await openPayloadSpool(settings) };
}

it('keeps payloads sealed on disk, over a restart, until they were taken', async () => {
  const { dir, spool } = await aSpool();
  const [first, second] = [aPayload('{"secret":"one"}'), aPayload()];
  expect(spool.add(first)).toBe(true);
  expect(spool.add(second)).toBe(true);
  await spool.flush();
  const [file = ''] = readdirSync(join(dir, tenantId));
  expect(readFileSync(join(dir, tenantId, file), 'utf8')).not.toContain('secret');

  const { spool: after } = await aSpool({ dir });
  expect(after.bytes()).toBe(spool.bytes());
  const spooled = await after.next(tenantId);
  if (!spooled) throw new Error('nothing is there');
  const opened = await compactDecrypt(spooled.upload.payloads[0]?.jwe ?? '', privateKey);
  const content = PayloadContent.parse(JSON.parse(Buffer.from(opened.plaintext).toString()));
  expect(content).toEqual(first.content);
  expect(await after.next(uuidv7())).toBeNull();

  await after.settle(tenantId, spooled, { results: ['stored', 'waiting'] });
  const rest = await after.next(tenantId);
  expect(rest?.upload.payloads).toEqual([spooled.upload.payloads[1]]);
  if (rest) await after.settle(tenantId, rest, { results: ['stored'] });
  expect(await after.next(tenantId)).toBeNull();
  expect(after.bytes()).toBe(0);
});

it('writes more in a turn of a busy process than calls add in it', async () => {
  const { spool } = await aSpool();
  let turns = 0;
  let isBusy = true;
  const turn = () => {
    turns += 1;
    for (const end = performance.now() + 2; performance.now() < end; );
    if (isBusy) setImmediate(turn);
  };
  for (let call = 0; call < 500; call++) spool.add(aPayload());
  turn();
  await spool.flush();
  isBusy = false;
  expect(turns).toBeLessThan(500);
});

it('reports a payload whose key is none, and seals the others', async () => {
  const { spool, lost } = await aSpool();
  const [first, second] = [aPayload(), aPayload()];
  // A point of low order: whoever knows it can open what is sealed to it.
  spool.add({ ...first, sealingKey: { ...sealingKey, x: 'A'.repeat(43) } });
  spool.add(second);
  await spool.flush();
  expect(lost).toEqual([[tenantId, 1, 'unwritable']]);
  const spooled = await spool.next(tenantId);
  expect(spooled?.upload.payloads[0]?.event_id).toBe(second.content.event_id);
});

it('a postponed upload goes behind later ones', async () => {
  const { spool } = await aSpool();
  const [first, second] = [aPayload(), aPayload()];
  for (const payload of [first, second]) {
    spool.add(payload);
    await spool.flush();
  }
  const spooled = await spool.next(tenantId);
  if (spooled) await spool.settle(tenantId, spooled, { results: ['waiting'] });
  const next = await spool.next(tenantId);
  expect(next?.upload.payloads[0]?.event_id).toBe(second.content.event_id);
});

it('refuses what it has no room for', async () => {
  const { spool } = await aSpool({ limitBytes: 15_000 });
  expect(spool.add(aPayload('x'.repeat(6_000)))).toBe(true);
  expect(spool.add(aPayload('x'.repeat(6_000)))).toBe(false);
  await spool.flush();
  expect(spool.add(aPayload('x'.repeat(6_000)))).toBe(false);
  expect(spool.add(aPayload('x'))).toBe(true);
});

it('no tenant fills the whole spool', async () => {
  const { spool } = await aSpool({ limitBytes: 100_000 });
  while (spool.add(aPayload('x'.repeat(1_000))));
  await spool.flush();
  while (spool.add(aPayload('x'.repeat(1_000))));
  await spool.flush();
  const other = uuidv7();
  expect(spool.add(aPayload('x'.repeat(1_000), other))).toBe(true);
  expect(spool.bytes()).toBeGreaterThan(60_000);
  expect(spool.bytes()).toBeLessThan(90_000);
});

it('no upload is larger than the control plane takes', async () => {
  const { spool } = await aSpool();
  // Sealed, each has nearly three times its bytes.
  for (let part = 0; part < 4; part++) spool.add(aPayload('"'.repeat(MAX_PAYLOAD_BYTES)));
  await spool.flush();
  let parts = 0;
  for (let next = await spool.next(tenantId); next; next = await spool.next(tenantId)) {
    expect(JSON.stringify(next.upload).length).toBeLessThan(PAYLOAD_LIMITS.bytes);
    parts += next.upload.payloads.length;
    const results = next.upload.payloads.map(() => 'stored' as const);
    await spool.settle(tenantId, next, { results });
  }
  expect(parts).toBe(4);
});

it('opens a folder with other things in it, and drops what has expired of any tenant', async () => {
  const { dir, spool } = await aSpool();
  spool.add(aPayload());
  await spool.flush();
  writeFileSync(join(dir, 'notes.txt'), 'x');
  writeFileSync(join(dir, tenantId, 'half.json.new'), 'x');
  const at = Date.now() + 8 * 86_400_000;
  const { spool: after, lost } = await aSpool({ dir, now: () => at });
  expect(after.bytes()).toBe(0);
  expect(lost).toEqual([[tenantId, 1, 'expired']]);
  expect(readdirSync(join(dir, tenantId))).toEqual([]);
});

it('gives up what is refused, damaged or too old, and says so', async () => {
  let at = Date.now();
  const { dir, spool, lost } = await aSpool({ now: () => at, elapsed: () => at });
  spool.add(aPayload());
  await spool.flush();
  const spooled = await spool.next(tenantId);
  if (spooled) await spool.settle(tenantId, spooled, { results: ['refused'] });
  spool.add(aPayload());
  await spool.flush();
  at += 8 * 86_400_000;
  expect(await spool.next(tenantId)).toBeNull();
  expect(lost).toEqual([
    [tenantId, 1, 'refused'],
    [tenantId, 1, 'expired'],
  ]);
  expect(readdirSync(join(dir, tenantId))).toEqual([]);
});

it('gives up nothing by a clock that jumps ahead', async () => {
  let at = Date.now();
  const { spool, lost } = await aSpool({ now: () => at });
  spool.add(aPayload());
  await spool.flush();
  at += 400 * 86_400_000;
  expect(await spool.next(tenantId)).not.toBeNull();
  expect(lost).toEqual([]);
});

it('what is given up twice at the same moment is reported lost once', async () => {
  let at = Date.now();
  const { spool, lost } = await aSpool({ now: () => at, elapsed: () => at });
  spool.add(aPayload());
  await spool.flush();
  at += 8 * 86_400_000;
  expect(await Promise.all([spool.next(tenantId), spool.next(tenantId)])).toEqual([null, null]);
  expect(lost).toEqual([[tenantId, 1, 'expired']]);
});

it('goes on writing after a loss that could not be reported, and logs it', async () => {
  const onLost = () => {
    throw new Error('no alert can be raised');
  };
  const { dir, spool, logged } = await aSpool({ onLost });
  // Its folder cannot be made.
  const other = uuidv7();
  writeFileSync(join(dir, other), '');
  spool.add(aPayload('{}', other));
  await spool.flush();
  expect(logged).toEqual(['the loss of payloads could not be reported']);
  const payload = aPayload();
  spool.add(payload);
  await spool.flush();
  const spooled = await spool.next(tenantId);
  expect(spooled?.upload.payloads[0]?.event_id).toBe(payload.content.event_id);
});

it('goes on writing after a listener threw, and frees the memory of what was written', async () => {
  const { spool, logged } = await aSpool({ limitBytes: 20_000 });
  const end = spool.onAdded(() => {
    throw new Error('a listener failed');
  });
  spool.add(aPayload('x'.repeat(4_000)));
  await spool.flush();
  end();
  expect(logged).toEqual(['a write of payloads failed']);
  const spooled = await spool.next(tenantId);
  if (spooled) await spool.settle(tenantId, spooled, { results: ['stored'] });
  expect(spool.add(aPayload('x'.repeat(9_000)))).toBe(true);
  await spool.flush();
  expect(await spool.next(tenantId)).not.toBeNull();
});
