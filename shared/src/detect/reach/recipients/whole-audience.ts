/** Tools that send to everybody on a list, whose length no argument shows. */
import { readArgumentName } from '../arguments/argument-kinds.ts';
import { escalates } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';

export const TO_AUDIENCE = escalates('email_recipients', 'the call sends to everybody on a list');

const SENDS = wordSet('send sends schedule launch start trigger resend deliver');
const TO_ALL = wordSet('campaign campaigns broadcast broadcasts newsletter newsletters mailshot');
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
/** Words of tools that notify, however they are created. */
const NOTIFIES = wordSet('notification notifications notify dm push');
/** Arguments that name a list of recipients, each of any length. */
const OF_LISTS = new Set([
  'included segments',
  'segment id',
  'segment ids',
  'audience id',
  'list id',
]);

/** Whether a tool's name ends in whom it sends to: `send_dm_all`. */
const isForAll = (words: readonly string[]): boolean =>
  ['all', 'everyone', 'everybody'].includes(words.at(-1) ?? '') && !words.includes('push');

/** Words of tools that send to one person, or to nobody yet. */
const NOT_YET = wordSet(
  'test preview draft unschedule stats report status analytics export import',
);

/**
 * Whether a call does, and names no recipients itself.
 *
 * @param words of the tool's name
 */
export function sendsToAudience(
  words: readonly string[],
  args: Readonly<Record<string, unknown>>,
): boolean {
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  const names = Object.keys(args).map((key) => readArgumentName(key).words.join(' '));
  const isToAll = has(TO_ALL) || names.some((name) => OF_LISTS.has(name));
  const isSent = has(SENDS) || has(NOTIFIES);
  if (!isSent || !(isToAll || isForAll(words)) || has(NOT_YET)) return false;
  if (names.some((name) => OF_LISTS.has(name)) && has(NOTIFIES)) return true;
  return !Object.values(args).some(
    (value) => Array.isArray(value) || (typeof value === 'string' && ADDRESS.test(value)),
  );
}
