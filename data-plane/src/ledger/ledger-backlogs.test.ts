import { expect, it } from 'vitest';
import { createLedgerBacklogs } from './ledger-backlogs.ts';

it('counts what waits of each tenant, and never less than nothing', () => {
  const backlogs = createLedgerBacklogs();
  backlogs.recount('a', 3);
  backlogs.add('a', { records: 2, characters: 1_000 });
  backlogs.add('b', { records: 1, characters: 10 });
  expect(backlogs.of('a')).toEqual({ records: 5, characters: 1_000 });
  // Those from before the start have a size, which was not counted.
  backlogs.take('a', { records: 4, characters: 2_000 });
  expect(backlogs.of('a')).toEqual({ records: 1, characters: 0 });
  expect(backlogs.of('b')).toEqual({ records: 1, characters: 10 });
  expect(backlogs.of('c')).toEqual({ records: 0, characters: 0 });
});
