/**
 * Statements to data planes with the clock that dates them. Time and generation are read together:
 * a time of the clock before, under the generation of the one that was accepted, would bring back
 * what the operator has just ended (ADR 118).
 */
import type { KeyObject } from 'node:crypto';
import {
  digestStatement,
  type SignedClock,
  type SignedPresent,
  signStatement,
} from '@governance/shared/channel/signed-statement';

/** What the clock showed, and which of the clocks it was. */
export interface ClockReading {
  time: Date;
  /** 0 until an operator accepts a clock. */
  generation: number;
}

export interface DatedStatement<T extends SignedPresent> {
  signed: { statement: T; kid: string; signature: string };
  /** None for generation 0. */
  clock?: SignedClock;
}

export function signDated<T extends SignedPresent>(
  key: { key: KeyObject; kid: string },
  statement: T,
  generation: number,
): DatedStatement<T> {
  const signed = signStatement(key, statement);
  if (generation === 0) return { signed };
  const clock = signStatement(key, {
    type: 'clock',
    v: 1,
    tenant_id: statement.tenant_id,
    generation,
    statement_digest: digestStatement(statement),
  });
  return { signed, clock };
}
