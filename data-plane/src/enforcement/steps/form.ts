import { isList } from '../call/call-kinds.ts';
import type { Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import type { ReceivedMessage } from '../call/received-message.ts';
import { denied } from '../permission/eligibility.ts';

export interface FormDeps {
  limits: {
    /** Most bytes of one message. */
    messageBytes: number;
  };
}

/**
 * Checks that a part is within its limits, and that its receiver may get such a message. The first
 * step, since every later step reads the whole part. Messages were already parsed strictly, and
 * bounded, on arrival.
 */
export function checkForm(
  received: ReceivedMessage,
  { limits }: FormDeps,
): Continue<ReceivedMessage> | Deny {
  const { part, call } = received;
  if (part.kind === 'notification') {
    if (!FOR_CLIENTS.has(part.method)) return denied('the notification is not for clients');
    // Progress always belongs to a request.
    const isStray = part.method === 'notifications/progress' && call === null;
    return isStray ? denied('progress without a request') : proceed(received);
  }
  const { raw, value } = part;
  // A character has at most three bytes, so few messages have to be measured. Lists have a limit of
  // their own.
  const isLong = raw.length * 3 > limits.messageBytes && !(call && isList(call.ask.method));
  if (isLong && Buffer.byteLength(raw) > limits.messageBytes) {
    return denied(`it is larger than ${limits.messageBytes} bytes`);
  }
  if (typeof value !== 'object' || value === null) return denied('it is not an object');
  return proceed(received);
}

/**
 * The notifications of MCP for a client. A server could write any text into another name, and only
 * params are inspected. A cancellation is for the gateway, whose requests it ends.
 */
const FOR_CLIENTS: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/prompts/list_changed',
  'notifications/elicitation/complete',
]);
