import { expect, it } from 'vitest';
import { createChangeBus, nextChange } from './change-bus.ts';

it('tells every listener, also after one of them failed', () => {
  const errors: unknown[] = [];
  const bus = createChangeBus((error) => errors.push(error));
  const received: string[] = [];
  const fail = () => {
    throw new Error('mine');
  };
  bus.subscribe(fail, fail);
  const end = bus.subscribe(
    ({ tenantId }) => received.push(tenantId),
    () => received.push('anything'),
  );
  bus.publish({ tenantId: 'a' });
  bus.announceMissed();
  end();
  bus.publish({ tenantId: 'b' });
  expect(received).toEqual(['a', 'anything']);
  expect(errors).toHaveLength(3);
});

it('waits for a change of the tenant that is asked for, as long as is asked', async () => {
  const bus = createChangeBus(() => {});
  const next = nextChange(bus, 'a', {
    timeoutMs: 10_000,
    accepts: ({ feedSeq }) => feedSeq !== undefined,
  });
  bus.publish({ tenantId: 'b', feedSeq: 1 });
  bus.publish({ tenantId: 'a', position: 1 });
  bus.publish({ tenantId: 'a', feedSeq: 2 });
  expect(await next).toEqual({ tenantId: 'a', feedSeq: 2 });
  expect(await nextChange(bus, 'a', { timeoutMs: 1 })).toBeUndefined();

  const missed = nextChange(bus, 'a', { timeoutMs: 10_000, accepts: () => false });
  bus.announceMissed();
  expect(await missed).toEqual({ tenantId: 'a' });

  const abort = new AbortController();
  const given = nextChange(bus, 'a', { timeoutMs: 10_000, signal: abort.signal });
  abort.abort();
  expect(await given).toBeUndefined();
  const late = nextChange(bus, 'a', { timeoutMs: 10_000, signal: abort.signal });
  expect(await late).toBeUndefined();
});
