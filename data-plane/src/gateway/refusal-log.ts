import { MINUTE_MS } from '@governance/shared/time/durations';
import type { Logger } from 'pino';

/** Log samples in a minute: enough to see what happens, too few to fill a disk. */
const SAMPLES = 10;

/**
 * Counts refused credentials and logs some of them. They leave no record (evidence, section 1): an
 * unauthenticated client must not be able to fill the ledger.
 */
export function createRefusalLog(
  log: Pick<Logger, 'warn'>,
  count: (reason: string) => void,
  elapsed: () => number,
): (reason: string, requestId: string) => void {
  let since = elapsed();
  let logged = 0;
  return (reason, reqId) => {
    count(reason);
    if (elapsed() - since > MINUTE_MS) {
      since = elapsed();
      logged = 0;
    }
    if (logged++ < SAMPLES) log.warn({ reqId, reason }, 'a credential was refused');
  };
}
