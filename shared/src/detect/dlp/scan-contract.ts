/** What the DLP scanner promises. `createDlpScanner` in scanner.ts makes one. */
import type { Severity } from '../../ledger/ledger-record.ts';
import type { DlpFinding } from '../findings.ts';

/** A tenant's changes to a built-in pattern. */
export interface BuiltinOverride {
  readonly enabled?: boolean;
  readonly severity?: Severity;
}

/** A tenant's own pattern. */
export interface CustomPattern {
  readonly id: string;
  readonly name: string;
  readonly regex: string;
  readonly severity: Severity;
}

export interface DlpScannerOptions {
  /** By the built-in pattern's name; absent ones keep their defaults. */
  readonly builtin?: Readonly<Record<string, BuiltinOverride>>;
  /** Enabled patterns of the tenant. */
  readonly custom?: readonly CustomPattern[];
}

/** A finding in one text; offsets are UTF-16 units of the original text. */
export interface TextFinding extends Omit<DlpFinding, 'place'> {
  readonly start: number;
}

/** The result of redacting a value. */
export interface Redaction {
  /** A copy with `[REDACTED:<pattern>]` in place of what was found. */
  readonly value: unknown;
  readonly redacted: readonly DlpFinding[];
  /** The replaced texts, each with its pattern. Never leaves memory. */
  readonly taken: ReadonlyMap<string, string>;
  /** The same for what remains; of a split value, each part by itself. */
  readonly left: ReadonlyMap<string, string>;
  /** Whether it failed since there was too much to look through all of it. */
  readonly isCut: boolean;
  /**
   * Something that was found remains in the value: a number, a key, a value split over fields, or
   * what the caller keeps. The caller blocks the value.
   */
  readonly failed: boolean;
}

/**
 * @throws PatternBudgetError from each method when the tenant's own patterns exceed their budget
 *   on a text
 * @throws ScanBudgetError from each method when a text has more readings or candidates than can
 *   be examined in bounded time
 */
export interface DlpScanner {
  /** Findings in one text, by their start; at most MAX_FINDINGS of each severity. */
  scanText(text: string): TextFinding[];
  /** Every string, key and number of a JSON value; `place` is a JSON Pointer (RFC 6901). */
  scanValue(value: unknown): DlpFinding[];
  /**
   * Redacts what `scanValue` finds in a JSON value.
   *
   * @param keep whether the string at this pointer (the key is its last step) must stay unchanged
   */
  redactValue(value: unknown, keep?: (pointer: string, key: string) => boolean): Redaction;
  /** Frees the compiled patterns; a scanner that is used again recompiles them. */
  close(): void;
}

/** Findings of each severity in one scan; further ones are left out. */
export const MAX_FINDINGS = 200;
