import { isList } from '../call-kinds.ts';
import type { Continue, Deny } from '../calls.ts';
import { denied } from '../eligibility.ts';
import { proceed } from '../pipeline-builder.ts';
import type { Said } from '../said.ts';

export interface FormDeps {
  limits: {
    /** Bytes of one message, at most. */
    messageBytes: number;
  };
}

/**
 * First, since every later step reads all of it: is it within bounds, and a message that its
 * receiver may get? Messages were parsed strictly and bounded on arrival.
 */
export function checkForm(said: Said, { limits }: FormDeps): Continue<Said> | Deny {
  const { part, call } = said;
  if (part.kind === 'notification') {
    if (!isForClients(part.method)) return denied('the notification is not for clients');
    // Progress belongs to a request.
    const isStray = part.method === 'notifications/progress' && call === null;
    return isStray ? denied('progress without a request') : proceed(said);
  }
  const { raw, value } = part;
  // A character has at most three bytes, so nearly no message has to be measured. A list is read
  // within a budget of its own.
  const isLong = raw.length * 3 > limits.messageBytes && !(call && isList(call.ask.method));
  if (isLong && Buffer.byteLength(raw) > limits.messageBytes) {
    return denied(`it is larger than ${limits.messageBytes} bytes`);
  }
  if (typeof value !== 'object' || value === null) return denied('it is not an object');
  return proceed(said);
}

/**
 * Whether a notification is meant for the client: not those that end the gateway's own requests.
 */
function isForClients(method: string): boolean {
  return method.startsWith('notifications/') && method !== 'notifications/cancelled';
}
