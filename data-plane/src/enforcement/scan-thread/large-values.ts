/**
 * Protects what is kept of large calls on the scan threads, in the turns of their agents: removing
 * texts takes as long as a scan. Proven by kept-on-threads.test.ts.
 */
import type { LargeValue, LargeValues, Protection } from '../record/kept-payload.ts';
import { isLarge, LARGE, runScan } from './dlp-scans.ts';
import type { ScanThreads } from './scan-threads.ts';

/** Hashing alone costs a few hundredths of what removing does. */
const LARGE_TO_HASH = 16 * LARGE;
/** Several removals of one call may follow one another in one turn of the event loop. */
const LARGE_TO_REMOVE = LARGE / 2;

export function createLargeValues(
  threads: Pick<ScanThreads, 'run'>,
  large = LARGE_TO_REMOVE,
  largeToHash = LARGE_TO_HASH,
): LargeValues {
  return {
    isLarge: (value, { rules }: Protection) => {
      const removes = rules.takesOutMatches || rules.fields.length > 0;
      return isLarge(value, removes ? large : largeToHash);
    },
    async protect({ caller, protection, identified, json, key }: LargeValue) {
      const { rules } = protection;
      const { agent, part } = identified;
      const lane = part === 'result' ? 'kept-answer' : 'call';
      try {
        const answer = await runScan(threads, caller, lane, () => ({
          kind: 'kept',
          settings: protection.dlpSettings(),
          value: json(),
          rules,
          // Its name alone: an agent has more than a thread needs to know.
          identified: {
            ...identified,
            agent: agent && { id: agent.id, name: agent.name, owner: agent.owner },
          },
          key: rules.hashes ? key() : null,
        }));
        return answer.kind === 'kept' ? (answer.text ?? undefined) : undefined;
      } catch {
        // Nothing may be kept of what no thread has protected.
        return undefined;
      }
    },
  };
}
