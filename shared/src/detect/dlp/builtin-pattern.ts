import type { Severity } from '../../ledger/ledger-record.ts';

/** A part of a text, in UTF-16 units; `end` is exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * Decides about one candidate: returns the stretches that are findings, if any. It may read around
 * the candidate, but only a constant number of characters, so that a scan stays linear.
 */
export type Judge = (text: string, start: number, end: number) => readonly Stretch[];

/** A candidate with a judge of its own. */
export interface JudgedExpression {
  readonly expression: string;
  readonly judge: Judge;
}

/** A pattern of the product. Names are stable: policies, alerts and settings refer to them. */
export interface BuiltinPattern {
  readonly name: string;
  readonly severity: Severity;
  readonly description: string;
  /** Candidates, in the syntax of the pattern engine (no look-around, no back-references). */
  readonly expressions: readonly (string | JudgedExpression)[];
  /** What `judge` checks, in words for people. */
  readonly validator?: string;
  /** Judges the expressions without a judge of their own; if absent, each match is a finding. */
  readonly judge?: Judge;
}

export const NOTHING: readonly Stretch[] = [];
