import { StartError } from '@governance/shared/process/start-error';
import { ConfigurationError } from '@governance/shared/settings';
import { LedgerDamagedError, LedgerError } from '../ledger/ledger-error.ts';

/**
 * Whether an operator can mend what ended a start: its message says how and is shown without a
 * stack. Anything else is a bug.
 */
export function isMendable(error: unknown): error is Error {
  return [ConfigurationError, StartError, LedgerError, LedgerDamagedError].some(
    (kind) => error instanceof kind,
  );
}
