/** A step of each page, as somebody would add one: a file, and a line in the list (inspection.test.ts). */
import type { AgentCall, Continue, Deny } from '../enforcement/call/calls.ts';
import { proceed } from '../enforcement/call/pipeline-builder.ts';
import { type ReceivedMessage, textsOf } from '../enforcement/call/received-message.ts';

export const SECRET = 'open-sesame';

/** On the way out: nobody may say the secret. */
export function refuseSecret<C extends AgentCall>(call: C): Continue<C> | Deny {
  return JSON.stringify(call.ask.args).includes(SECRET) ? denied() : proceed(call);
}

/** On the way back: it blocks what says the secret, in one part or across two, and throws on `boom`. */
export function blockSecret(received: ReceivedMessage): Continue<ReceivedMessage> | Deny {
  const { part, carry } = received;
  const text = textsOf(part.kind === 'notification' ? part.params : part.value);
  if (text.includes('boom')) throw new Error('the detector failed');
  // Only the end of what came before counts: this part may complete it.
  const hasSecret = (carry.slice(1 - SECRET.length) + text).includes(SECRET);
  return hasSecret ? denied() : proceed(received);
}

/** On the way back, and slow. */
export async function waitAndBlock(
  received: ReceivedMessage,
): Promise<Continue<ReceivedMessage> | Deny> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return blockSecret(received);
}

function denied(): Deny {
  return { kind: 'deny', cause: 'policy', message: 'it says the secret', reasons: [] };
}
