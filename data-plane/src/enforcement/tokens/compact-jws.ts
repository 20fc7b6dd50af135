import { parseStrictJson } from '@governance/shared/json/strict-json';
import { isObject } from '../../upstream/message.ts';

/** A compact JWS as received; nothing in it is verified. */
export interface CompactJws {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  /** The signed bytes. */
  signed: Buffer;
  signature: Buffer;
}

/**
 * Splits a compact JWS (RFC 7515, section 7.1).
 *
 * @param token caller-controlled, of a bounded length
 * @param limits of the JSON in each part
 * @returns undefined where the token is not a compact JWS with JSON objects
 */
export function parseCompactJws(
  token: string,
  limits: { maxDepth: number; maxNodes: number },
): CompactJws | undefined {
  const parts = token.split('.', 4);
  const [encodedHeader = '', encodedClaims = '', encodedSignature = ''] = parts;
  // Node decodes base64url leniently; only the canonical form is accepted here (RFC 7515 2).
  const signature = Buffer.from(encodedSignature, 'base64url');
  const isOne = encodedSignature !== '' && signature.toString('base64url') === encodedSignature;
  if (parts.length !== 3 || !isOne) return undefined;
  try {
    const [header, claims] = [encodedHeader, encodedClaims].map((part) =>
      parseStrictJson(Buffer.from(part, 'base64url'), limits),
    );
    if (!isObject(header) || !isObject(claims)) return undefined;
    const signed = Buffer.from(`${encodedHeader}.${encodedClaims}`, 'latin1');
    return { header, claims, signed, signature };
  } catch {
    return undefined;
  }
}
