/** Reads what a verification trusts: an anchor, and the configured issuers. */
import type { TrustedIssuer } from '@governance/shared/evidence/checks/evidence';
import { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import { Id, Text } from '@governance/shared/text';
import { z } from 'zod';

/** The maximum length of an anchor in characters. */
export const MAX_ANCHOR_LENGTH = 1024 * 1024;
const MAX_NODES = 200_000;

export const KEYSET_FORMAT = 'agent-governance-keyset/v1';

/** An issuer's keys, without a place in a log. */
const IssuerKeyset = z.strictObject({
  format: z.literal(KEYSET_FORMAT),
  issuer: Text.max(500),
  tenant_id: Id.optional(),
  keys: z.array(KeyEntry).max(1_000),
});

const Published = z.union([TrustAnchor, IssuerKeyset]);

/** What is published at /trust-anchor.json: an anchor, or a keyset. */
export type PublishedKeyset = z.infer<typeof Published>;

/**
 * Reads a trust anchor.
 *
 * @param text JSON, caller-controlled
 * @throws StrictJsonError, or ZodError, when it is not one
 */
export function parseTrustAnchor(text: string): TrustAnchor {
  return TrustAnchor.parse(parse(text));
}

/**
 * Reads an anchor or a keyset.
 *
 * @throws StrictJsonError, or ZodError
 */
export function parseKeyset(text: string): PublishedKeyset {
  return Published.parse(parse(text));
}

/**
 * Reads a list of anchors and keysets: the issuers that this verifier's operator trusts.
 *
 * @throws StrictJsonError, or ZodError
 */
export function parseIssuers(text: string): TrustedIssuer[] {
  return z.array(Published).max(1_000).parse(parse(text)).map(issuerOf);
}

/** Only an anchor's keys count here: a log is pinned only by an anchor given with the request. */
export function issuerOf({ issuer, tenant_id, keys }: PublishedKeyset): TrustedIssuer {
  return { issuer, tenant_id, keys };
}

function parse(text: string): unknown {
  if (text.length > MAX_ANCHOR_LENGTH) throw new RangeError('the text is too long');
  // Editors write a byte order mark. What is signed or hashed has none: this text is neither.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  return parseStrictJson(json, { maxDepth: 16, maxNodes: MAX_NODES });
}
