import { AppError } from '@governance/shared/errors';
import type { PayloadReceipt, PayloadUpload } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, expect, it, vi } from 'vitest';
import type { SpooledUpload } from '../../payloads/payload-spool.ts';
import { startPayloadShipper } from './payload-shipper.ts';

const tenantId = uuidv7();
const log = { warn: vi.fn(), info: vi.fn(), error: vi.fn(), debug: vi.fn() };

let stop: () => Promise<void> = async () => undefined;
afterEach(() => stop());

/** A part on which the control plane fails. */
const poison = uuidv7();
const aPart = () => ({ event_id: uuidv7(), part: 'input', jwe: 'a..b.c.d' }) as const;
const anUpload = (parts = 1): PayloadUpload => ({ payloads: Array.from({ length: parts }, aPart) });

/** A spool in memory, and a control plane that answers one after the other. */
function ship(uploads: PayloadUpload[], answers: (PayloadReceipt['results'] | Error)[]) {
  const queue: SpooledUpload[] = uploads.map((upload, index) => ({ name: String(index), upload }));
  const settled: string[] = [];
  const sent: number[] = [];
  let added: (tenantId: string) => void = () => undefined;
  const spool = {
    next: async (_: string, isPutOff: (name: string) => boolean = () => false) =>
      queue.find(({ name }) => !isPutOff(name)) ?? null,
    settle: async (_: string, spooled: SpooledUpload, { results }: PayloadReceipt) => {
      queue.splice(queue.indexOf(spooled), 1);
      if (results.includes('waiting')) queue.push(spooled);
      settled.push(`${spooled.name}: ${results.join()}`);
    },
    halve: async (_: string, spooled: SpooledUpload) => {
      queue.splice(queue.indexOf(spooled), 1);
      const { name, upload } = spooled;
      for (const [index, part] of upload.payloads.entries()) {
        queue.push({ name: `${name}.${index}`, upload: { payloads: [part] } });
      }
    },
    onAdded: (listener: typeof added) => {
      added = listener;
      return () => undefined;
    },
  };
  const link = {
    shipPayloads: async ({ payloads }: PayloadUpload) => {
      sent.push(payloads.length);
      if (payloads.some(({ event_id }) => event_id === poison)) throw new Error('a fault');
      const answer = answers.shift() ?? payloads.map(() => 'stored' as const);
      if (answer instanceof Error) throw answer;
      return { results: answer };
    },
  };
  const backoffLimits = { first: 1, longest: 2 };
  const shipper = startPayloadShipper({
    tenantId,
    link,
    spool,
    log: log as never,
    backoffLimits,
    putOffLimits: backoffLimits,
  });
  stop = shipper.stop;
  return {
    settled,
    sent,
    add: (upload: PayloadUpload, of = tenantId) => {
      queue.push({ name: 'new', upload });
      added(of);
    },
  };
}

it('sends one after the other, and what comes later', async () => {
  const { settled, add } = ship([anUpload(), anUpload()], []);
  await vi.waitFor(() => expect(settled).toEqual(['0: stored', '1: stored']));
  add(anUpload());
  await vi.waitFor(() => expect(settled.at(-1)).toBe('new: stored'));
});

it('a part whose record has not arrived goes again behind the others', async () => {
  const { settled } = ship([anUpload(), anUpload()], [['waiting']]);
  await vi.waitFor(() => expect(settled).toEqual(['0: waiting', '1: stored', '0: stored']));
});

it('a control plane that is away, or answers for something else, is asked again', async () => {
  const away = new AppError('UNAVAILABLE');
  const { settled, sent } = ship([anUpload()], [away, [], away]);
  await vi.waitFor(() => expect(settled).toEqual(['0: stored']));
  expect(sent).toEqual([1, 1, 1, 1]);
});

it('a part too large for the channel is halved, and one that is never accepted is given up', async () => {
  const tooLarge = new AppError('BODY_TOO_LARGE');
  const refused = new AppError('VALIDATION_FAILED');
  const { settled, sent } = ship([anUpload(2), anUpload()], [tooLarge, refused]);
  await vi.waitFor(() => expect(settled).toEqual(['1: refused', '0.0: stored', '0.1: stored']));
  expect(sent).toEqual([2, 1, 1, 1]);
});

it('a part on which the control plane fails holds up no other, and is tried again', async () => {
  const parts = [aPart(), { ...aPart(), event_id: poison }, aPart()];
  const { settled, sent, add } = ship([{ payloads: parts }, anUpload()], []);
  await vi.waitFor(() => expect(settled).toEqual(['1: stored', '0.0: stored', '0.2: stored']));
  const tries = sent.length;
  await vi.waitFor(() => expect(sent.length).toBeGreaterThan(tries + 2));
  add(anUpload());
  await vi.waitFor(() => expect(settled.at(-1)).toBe('new: stored'));
});
