/** What the DLP scanner promises. `createDlpScanner` in scanner.ts makes one. */
import type { Severity } from '../../ledger-record.ts';
import type { DlpFinding } from '../findings.ts';

/** What a tenant changed of a built-in pattern. */
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
  /** By the name of the built-in pattern; what is absent keeps its defaults. */
  readonly builtin?: Readonly<Record<string, BuiltinOverride>>;
  /** Enabled patterns of the tenant. */
  readonly custom?: readonly CustomPattern[];
}

/** A finding in one text; offsets are UTF-16 units of the text as it was given. */
export interface TextFinding {
  /** The pattern's name. */
  readonly pattern: string;
  readonly severity: Severity;
  readonly start: number;
  /** With its disguise: the whole stretch that decodes. */
  readonly length: number;
  /** How it was disguised, outermost first; absent where it was not. */
  readonly disguise?: readonly string[];
}

/** What `redactValue` made of a value. */
export interface Redaction {
  /** A copy with `[REDACTED:<pattern>]` in the place of what was found. */
  readonly value: unknown;
  readonly redacted: readonly DlpFinding[];
  /** The texts that the marks replaced, each with the pattern of its mark. Never leaves memory. */
  readonly taken: ReadonlyMap<string, string>;
  /**
   * Something that was found still stands in the value: a number, a key, a value split over
   * fields, or what the caller keeps. The caller blocks the value.
   */
  readonly failed: boolean;
}

/**
 * @throws PatternBudgetError from each method when the tenant's own patterns give up on a text
 * @throws ScanBudgetError from each method when a text has more readings or candidates than can be
 *   looked at in bounded time
 */
export interface DlpScanner {
  /** Findings in one text, by their start; at most MAX_FINDINGS. */
  scanText(text: string): TextFinding[];
  /** Every string, key and number of a JSON value; `place` is a JSON Pointer (RFC 6901). */
  scanValue(value: unknown): DlpFinding[];
  /**
   * Takes out of a JSON value what `scanValue` finds in it.
   *
   * @param keep whether the string at this pointer (its key is the last step) must stay as it is
   */
  redactValue(value: unknown, keep?: (pointer: string, key: string) => boolean): Redaction;
  /** Frees the compiled patterns; a scanner that is used again compiles them again. */
  close(): void;
}

/** Findings of one scan. A text with more is answered with the first of them. */
export const MAX_FINDINGS = 200;
