/**
 * Signs alerts, so that a receiver can authenticate them: the specification's X-Service-Signature,
 * and the headers of Standard Webhooks, for which receivers have libraries. Proven by
 * alert-webhook.pg.test.ts.
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '@governance/shared/settings';

const STANDARD_PREFIX = 'whsec_';

/**
 * The headers that sign one delivery.
 *
 * @param delivery its id, its body as it is sent, and its time
 * @param secret shared with the receiver. X-Service-Signature is made with its UTF-8 bytes; the
 *   headers of Standard Webhooks with the decoded bytes of a `whsec_<base64>` secret, and with the
 *   UTF-8 bytes of any other secret.
 */
export function signatureHeaders(
  { id, body, at }: { id: string; body: string; at: Date },
  secret: Secret,
): Record<string, string> {
  const text = secret.reveal();
  const seconds = String(Math.floor(at.getTime() / 1000));
  const key = text.startsWith(STANDARD_PREFIX)
    ? Buffer.from(text.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(text);
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'x-service-signature': createHmac('sha256', text).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  };
}
