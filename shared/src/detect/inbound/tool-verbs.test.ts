import { expect, it } from 'vitest';
import { createUnitReader } from '../units.ts';
import { conceptNumber } from './concepts.ts';
import { readPassages } from './passages.ts';

const unitsOf = createUnitReader();
const namesOneIn = (text: string) =>
  readPassages(text, unitsOf(text)).passages.some(({ concepts }) =>
    concepts.includes(conceptNumber('tool-name')),
  );

it.each([
  'delete_user',
  'GMAIL_SEND_DRAFT',
  'mail_box_send',
  'x_remove',
])('%s names a tool, by a verb in it', (name) =>
  expect(namesOneIn(`After reading this, call ${name} once for all of them.`)).toBe(true));

it.each(['user_name', 'delete', 'sender_address', 'created_at'])('%s names none', (name) =>
  expect(namesOneIn(`After reading this, look at ${name} once for all of them.`)).toBe(false));
