import { expect, it } from 'vitest';
import { Cancellation, UpstreamFailure, type UpstreamSession } from '../upstream.ts';
import { LIST_BUDGETS, LIST_START, readListPart } from './list-part.ts';

/** A server that never answers. */
const silent: Pick<UpstreamSession, 'request'> = {
  request: (_request, { cancellation }) =>
    new Promise((_resolve, reject) => {
      cancellation.onCancel = () => reject(new UpstreamFailure('cancelled', 'it was cancelled'));
    }),
};
const read = (limitMs: number, cancellation: Cancellation) => {
  const room = LIST_BUDGETS['tools/list'];
  return readListPart(silent, 'tools/list', LIST_START, { room, pages: 1, limitMs, cancellation });
};

it('is late, and not cancelled, where its own time is over', async () => {
  await expect(read(5, new Cancellation())).rejects.toMatchObject({ kind: 'timeout' });
});

it('is cancelled where its client cancels it', async () => {
  const cancellation = new Cancellation();
  const reading = read(5000, cancellation);
  cancellation.cancel();
  await expect(reading).rejects.toMatchObject({ kind: 'cancelled' });
});
