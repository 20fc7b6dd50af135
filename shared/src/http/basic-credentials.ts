import { AppError } from '../errors.ts';
import { isStorableText } from '../text.ts';

/** Limit of the header; a client id and a secret need a fraction of it. */
const MAX_LENGTH = 8192;

/**
 * Client credentials of an `Authorization: Basic` header.
 *
 * @param header caller-controlled
 * @returns undefined when the header is absent or of another scheme
 * @throws AppError BAD_CREDENTIALS when it is Basic but unreadable
 */
export function parseBasic(
  header: string | undefined,
): { clientId: string; clientSecret: string } | undefined {
  if (header !== undefined && header.length > MAX_LENGTH) throw new AppError('BAD_CREDENTIALS');
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) {
    if (/^Basic\b/i.test(header ?? '')) throw new AppError('BAD_CREDENTIALS');
    return undefined;
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) throw new AppError('BAD_CREDENTIALS');
  try {
    // RFC 6749 section 2.3.1: each part is form-encoded before it is joined.
    const [clientId, clientSecret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    if (clientId && clientSecret && [clientId, clientSecret].every(isStorableText)) {
      return { clientId, clientSecret };
    }
  } catch {
    // Not form-encoded: reported below.
  }
  throw new AppError('BAD_CREDENTIALS');
}

/**
 * The value of an `Authorization: Basic` header. Our client ids and secrets equal their form
 * encoding, so that both readings of RFC 6749 section 2.3.1 agree.
 */
export function basicAuthorization(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}
