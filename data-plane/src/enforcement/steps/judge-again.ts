import type { Again, AgentCall, ClassifiedCall, ScannedCall } from '../calls.ts';
import { isOfPieces } from '../dlp/across-calls.ts';
import type { CallNow } from '../eligibility.ts';

/**
 * Judges a call again from `classify`, without what that step and later ones established: the
 * rules that they went by have changed. Proven by changed-rules.test.ts.
 */
export function judgeAgain(
  call: ClassifiedCall & Partial<Pick<ScannedCall, 'dlp'>>,
  now: CallNow,
): Again {
  const { id, caller, ask, grant, ineligibility, requester, dlp } = call;
  const fragments = dlp?.findings.filter(isOfPieces) ?? [];
  const again: AgentCall = {
    id,
    caller,
    ask,
    grant,
    ...(ineligibility && { ineligibility }),
    ...(requester && { requester }),
    ...(fragments.length > 0 && { fragments }),
    ...now,
  };
  return { kind: 'again', call: again, from: 'classify' };
}
