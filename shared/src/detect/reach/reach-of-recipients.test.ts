/** Recipients in one text: what may stand between them, and under whatever name. */
import { expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';

const reach = createReach();
const addresses = (count: number, join: string) =>
  Array.from({ length: count }, (_, at) => `a${at}@example.com`).join(join);
const MANY = ['escalate email_recipients'];

it.each(['|', ' | ', '%7C', '\xa6', '/', ' / ', '\uff5c', ';', '\n'])('between them %j', (join) => {
  expect(reach('send_email', 'write', { to: addresses(51, join) })).toEqual(MANY);
  expect(reach('send_email', 'write', { to: addresses(50, join) })).toEqual([]);
});

it.each(['|', ' | ', ', ', ';', ' ', '\n'])('under any name, between them %j', (join) => {
  for (const name of ['people', 'who', 'addresses', 'list']) {
    expect(reach('send_email', 'write', { [name]: addresses(51, join), body: 'x' })).toEqual(MANY);
  }
});

it('a text that is more than addresses lists no recipients', () => {
  const text = `Ask ${addresses(60, ', ')}`;
  expect(reach('log_event', 'write', { details: text })).toEqual([]);
  expect(reach('send_email', 'write', { to: 'a@example.com', body: addresses(60, '|') })).toEqual(
    [],
  );
});
