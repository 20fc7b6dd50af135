/**
 * What detection says of a text: which pattern or class, how bad, where, how long. Never the text
 * itself, nor a part of it, since findings are recorded, shipped and shown.
 */
import type { Severity } from '../ledger-record.ts';

// Types, not interfaces: a record takes them as objects with any member.
/** Sensitive data in what a call sends, or in its result. */
export type DlpFinding = {
  /** The pattern's name. */
  readonly pattern: string;
  readonly severity: Severity;
  /** Where: a JSON Pointer (RFC 6901) below the place that was scanned, cut to 256 characters. */
  readonly place: string;
  /** UTF-16 units of the value as it stood in the text, disguise included. */
  readonly length: number;
  /** How it was disguised, outermost first (`base64`, `hex`, `split`, …); absent where it was not. */
  readonly disguise?: readonly string[];
};

/** The seven classes of the inbound scanner (specification, document 1, section 6). */
export const INBOUND_CLASSES = [
  'imperative_command',
  'authority_claim',
  'permission_expansion',
  'role_reassignment',
  'encoded_payload',
  'structured_escalation',
  'urgency_framing',
] as const;
export type InboundClass = (typeof INBOUND_CLASSES)[number];

/** An injection, or what looks like one, in what a server says. */
export type InboundFinding = {
  readonly class: InboundClass;
  readonly severity: Severity;
  /** As in `DlpFinding`. */
  readonly place: string;
  /** UTF-16 units of the passage. */
  readonly length: number;
  /** 0 to 1, two digits. */
  readonly score: number;
};
