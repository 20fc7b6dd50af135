/**
 * The Authorization header of an agent, read once a request. Neither a token nor a secret is kept:
 * what travels on is what the header claims and a hash to look it up by.
 */
import { hash } from 'node:crypto';

export type Credential =
  | { readonly kind: 'none' }
  /** A header in no form that is accepted. */
  | { readonly kind: 'malformed'; readonly challenge: 'basic' | 'bearer' }
  | { readonly kind: 'bearer'; readonly token: string; readonly tokenHash: string }
  | { readonly kind: 'basic'; readonly clientId: string; readonly secretHash: Buffer };

/** Longer ones are refused before anything is computed over them. */
const MAX_HEADER_LENGTH = 8192;

const NONE: Credential = { kind: 'none' };
const MALFORMED_BEARER: Credential = { kind: 'malformed', challenge: 'bearer' };
const MALFORMED_BASIC: Credential = { kind: 'malformed', challenge: 'basic' };

/**
 * Reads an Authorization header (specification 1, section 5: Bearer, or Basic with client id and
 * secret). Never throws.
 */
export function parseCredential(header: string | undefined): Credential {
  if (header === undefined || header === '') return NONE;
  if (header.length > MAX_HEADER_LENGTH) return MALFORMED_BEARER;
  const space = header.indexOf(' ');
  const scheme = (space < 0 ? header : header.slice(0, space)).toLowerCase();
  const value = space < 0 ? '' : header.slice(space + 1).trim();
  if (scheme === 'bearer' && value !== '') {
    return { kind: 'bearer', token: value, tokenHash: hash('sha256', value, 'base64') };
  }
  if (scheme === 'basic') return parseBasic(value);
  return MALFORMED_BEARER;
}

function parseBasic(value: string): Credential {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) return MALFORMED_BASIC;
  return {
    kind: 'basic',
    clientId: text.slice(0, colon),
    secretHash: hash('sha256', text.slice(colon + 1), 'buffer'),
  };
}
