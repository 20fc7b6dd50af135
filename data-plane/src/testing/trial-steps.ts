/** A step of each page, as somebody would add one: a file, and a line in the list (inspection.test.ts). */
import type { AgentCall, Continue, Deny } from '../enforcement/calls.ts';
import { proceed } from '../enforcement/pipeline-builder.ts';
import { type Said, textsOf } from '../enforcement/said.ts';

export const SECRET = 'open-sesame';

/** On the way out: nobody may say the secret. */
export function refuseSecret<C extends AgentCall>(call: C): Continue<C> | Deny {
  return JSON.stringify(call.ask.args).includes(SECRET) ? denied() : proceed(call);
}

/** On the way back: it blocks what says the secret, in one part or across two, and throws on `boom`. */
export function blockSecret(said: Said): Continue<Said> | Deny {
  const { part, carry } = said;
  const text = textsOf(part.kind === 'notification' ? part.params : part.value);
  if (text.includes('boom')) throw new Error('the detector failed');
  // Only the end of what came before counts: this part may complete it.
  const isSaid = (carry.slice(1 - SECRET.length) + text).includes(SECRET);
  return isSaid ? denied() : proceed(said);
}

/** On the way back, and slow. */
export async function waitAndBlock(said: Said): Promise<Continue<Said> | Deny> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return blockSecret(said);
}

function denied(): Deny {
  return { kind: 'deny', cause: 'policy', message: 'it says the secret', reasons: [] };
}
