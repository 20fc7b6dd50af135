/** Tools that send to everybody on a list, whose length no argument shows. */
import type { ReachFinding } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

export const TO_AUDIENCE: Omit<ReachFinding, 'place'> = {
  rule: 'email_recipients',
  verdict: 'escalate',
  message: 'the call sends to everybody on a list',
};

const SENDS = wordSet('send sends schedule launch start trigger resend deliver');
const TO_ALL = wordSet('campaign campaigns broadcast broadcasts newsletter newsletters mailshot');
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
/** Words of tools that send to one person, or to nobody yet. */
const NOT_YET = wordSet('test preview draft unschedule stats report status');

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
  if (!has(SENDS) || !has(TO_ALL) || has(NOT_YET)) return false;
  return !Object.values(args).some(
    (value) => Array.isArray(value) || (typeof value === 'string' && ADDRESS.test(value)),
  );
}
