import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createPayloadPurge } from './payload-purge.ts';
import { payloadStore } from './payload-store.ts';

const test = await testDatabase();
const scope = await aTenant(test);
const others = await aTenant(test);
const DAY_MS = 86_400_000;
const at = new Date();

const insert = (tx: TenantTransaction, eventId: string, part: 'input' | 'result', ageDays = 0) =>
  payloadStore(tx).insert({
    eventId,
    part,
    deploymentId: uuidv7(),
    isEncrypted: false,
    dataKeyId: uuidv7(),
    ciphertext: new Uint8Array(1),
    receivedAt: new Date(at.getTime() - ageDays * DAY_MS),
  });
const count = async (of = scope) =>
  (await test.db.inTenant(of, (tx) => payloadStore(tx).status(at))).eventsWithPayload;

it('an event counts once, whoever stores its parts at the same time', async () => {
  const ids = Array.from({ length: 20 }, () => uuidv7());
  const store = (part: 'input' | 'result', events: string[]) =>
    test.db.inTenant(scope, async (tx) => {
      const inserted: string[] = [];
      for (const id of events) if (await insert(tx, id, part)) inserted.push(id);
      await payloadStore(tx).count(inserted);
    });
  // The same order, so that nobody waits for a row of one who waits.
  await Promise.all([
    store('input', ids),
    store('result', ids),
    store('input', ids),
    store('result', ids.slice(10)),
  ]);
  expect(await count()).toBe(20);
  await test.db.inTenant(scope, async (tx) => {
    const both = uuidv7();
    await insert(tx, both, 'input');
    await insert(tx, both, 'result');
    await payloadStore(tx).count([both, both]);
  });
  expect(await count()).toBe(21);
  expect(await count(others)).toBe(0);
});

it('what is purged is not counted, and a count of another version is mended within a day', async () => {
  const before = await count();
  await test.db.inTenant(scope, async (tx) => {
    const [old, forgotten] = [uuidv7(), uuidv7()];
    await insert(tx, old, 'input', 40);
    await insert(tx, forgotten, 'input');
    await payloadStore(tx).count([old]);
  });
  expect(await count()).toBe(before + 1);
  const purgeAt = (now: Date) =>
    createPayloadPurge({ db: test.db, tokenNow: () => now, settledNow: () => now }).run(
      new AbortController().signal,
    );
  await purgeAt(at);
  expect(await count()).toBe(before);
  await purgeAt(new Date(at.getTime() + 2 * DAY_MS));
  expect(await count()).toBe(before + 1);
  // Counted while the clock was ahead.
  await test.db.inTenant(scope, (tx) => insert(tx, uuidv7(), 'input'));
  await purgeAt(new Date(at.getTime() + DAY_MS - 1));
  expect(await count()).toBe(before + 2);
});

it('what was received while the clock was ahead is kept no longer than the retention', async () => {
  const purgeIn = (days: number) => {
    const now = () => new Date(at.getTime() + days * DAY_MS);
    const purge = createPayloadPurge({ db: test.db, tokenNow: now, settledNow: now });
    return purge.run(new AbortController().signal);
  };
  const apart = await aTenant(test);
  await test.db.inTenant(apart, async (tx) => {
    const ahead = uuidv7();
    await insert(tx, ahead, 'input', -365);
    await payloadStore(tx).count([ahead]);
  });
  await purgeIn(0);
  await purgeIn(29);
  expect(await count(apart)).toBe(1);
  await purgeIn(31);
  expect(await count(apart)).toBe(0);
});
