import { AppError } from '@governance/shared/errors';
import { isTimeImpossible } from '../database/record-time.ts';
import type { TenantTransaction } from '../database/tenant-scope.ts';

/**
 * The admin chain's record of what a call later uses has this machine's time, and the use is
 * verified against that: by a clock that is ahead of the database's, the call would come before it.
 *
 * @param databaseTime the database's clock, in this transaction
 * @param at this machine's
 * @param refused what is not done, such as `approved`
 * @throws AppError UNAVAILABLE
 */
export function requireRightClock(databaseTime: Date, at: Date, refused: string): void {
  if (!isTimeImpossible(at.getTime(), databaseTime.getTime())) return;
  throw new AppError(
    'UNAVAILABLE',
    `The clock of this control plane is more than five minutes ahead of its database's: nothing can be ${refused} before it is set.`,
  );
}

/** @returns when the transaction began, by the database's clock */
export async function databaseTime({ db }: Pick<TenantTransaction, 'db'>): Promise<Date> {
  const [row] = await db.$queryRaw<{ now: Date }[]>`SELECT now()`;
  if (!row) throw new Error('the database did not tell its time');
  return row.now;
}
