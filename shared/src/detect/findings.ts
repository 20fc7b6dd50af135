/**
 * What detection says about a text: which pattern or class, how severe, where, how long. Never any
 * part of the text, since findings are recorded, shipped and shown.
 */
import type { Severity } from '../ledger/ledger-record.ts';

// Types, not interfaces: only types are assignable to records' open objects.
/** Sensitive data in what a call sends, or in its result. */
export type DlpFinding = {
  /** The pattern's name. */
  readonly pattern: string;
  readonly severity: Severity;
  /** Where: a JSON Pointer (RFC 6901) below the scanned place, cut to 256 characters. */
  readonly place: string;
  /** UTF-16 units of the value in the original text, disguise included. */
  readonly length: number;
  /** How it was disguised, outermost first (`base64`, `hex`, `split`, …); absent if it was not. */
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
  /** 0 to 1, with two decimals. */
  readonly score: number;
};
