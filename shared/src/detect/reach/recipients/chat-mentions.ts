/** Messages in a chat that notify everybody there, instead of those who follow them. */
import { escalates } from '../reach-finding.ts';

export const NOTIFIES_ALL = escalates(
  'email_recipients',
  'the call notifies everybody in a channel',
);

/** Slack's form, everybody's, and that of Teams. */
const MENTION =
  /<!(?:channel|everyone|here)\b|(?<![\w@.-])@(?:\*\*)?(?:channel|everyone|here|all)(?![\w@-]|\.\w)|<at\b[^<>]{0,60}>\s{0,9}(?:everyone|channel|team|all)\s{0,9}</i;

/** Whether a text of a message does. */
export function mentionsAll(text: string): boolean {
  return MENTION.test(text);
}

/** Whether it is such an element of Slack's rich text. */
export function isBroadcast({ type, range }: Readonly<Record<string, unknown>>): boolean {
  return type === 'broadcast' && typeof range === 'string';
}
