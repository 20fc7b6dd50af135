import type { FreshnessStatement } from '@governance/shared/channel/signed-statement';
import type { PlaneClock } from '../feed/plane-clock.ts';

/** The newest bundle that a verified statement named, and for how long it has been known. */
export function createNamedBundle(clock: Pick<PlaneClock, 'read' | 'shift'>) {
  const read = () => clock.read() - clock.shift();
  let named: { revision: number; since: number } | null = null;

  return {
    note: ({ bundle }: FreshnessStatement): void => {
      if (bundle?.revision === named?.revision) return;
      named = bundle && { revision: bundle.revision, since: read() };
    },
    find: () => named && { revision: named.revision, forMs: read() - named.since },
  };
}
