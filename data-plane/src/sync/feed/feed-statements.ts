/** The signed statements that a page of the feed carries, and what follows of each. */
import type { FeedPage } from '@governance/shared/channel/channels';
import {
  type FreshnessStatement,
  readGeneration,
  type SignedAdminHead,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/channel/signed-statement';
import { FeedRefusedError } from '../link/feed-error.ts';
import type { Freshness } from './freshness.ts';
import type { Recognitions } from './recognitions.ts';

export interface FeedStatementsDeps {
  freshness: Pick<Freshness, 'enter' | 'believe' | 'check'>;
  recognitions: Recognitions;
  trust: () => { tenantId: string; keys: readonly StatementKey[] };
  /**
   * Called for each verified statement, with the time up to which it counts here, and the generation
   * of the clock that dated it.
   */
  onStatement?:
    | ((statement: FreshnessStatement, counted: number, generation: number) => void)
    | undefined;
  /** Called for each head of the admin chain whose signature was verified. */
  onAdminHead?: ((head: SignedAdminHead) => void) | undefined;
}

export interface VerifiedStatement {
  statement: FreshnessStatement;
  /** When it was made, as far as that is believed. */
  stated: number;
  /** The time up to which it counts here. */
  counted: number;
}

export function verifyStatements(
  { freshness, recognitions, trust, onStatement, onAdminHead }: FeedStatementsDeps,
  page: FeedPage,
): VerifiedStatement {
  const statement = verifyStatement(page.statement, trust());
  const generation = readGeneration(statement, page.clock, trust());
  if (freshness.enter(generation, Date.parse(statement.time))) recognitions.restart();
  const stated = freshness.believe(Date.parse(statement.time));
  freshness.check(stated);
  if (page.recognition) {
    const recognition = verifyStatement(page.recognition, trust());
    // The page was read before, or it is another's: the next one has both.
    if (readGeneration(recognition, page.recognition_clock, trust()) !== generation) {
      const what = 'a statement and its recognition are of different clocks';
      throw new FeedRefusedError('statement_stale', what);
    }
    recognitions.note(recognition, freshness.believe(Date.parse(recognition.time)));
  }
  const counted = recognitions.asOf(stated);
  onStatement?.(statement, counted, generation);
  if (page.admin_head) {
    verifyStatement(page.admin_head, trust());
    onAdminHead?.(page.admin_head);
  }
  return { statement, stated, counted };
}
