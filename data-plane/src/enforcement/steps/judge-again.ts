import type { Again, AgentCall, ClassifiedCall, ScannedCall } from '../calls.ts';
import { isOfPieces } from '../dlp/across-calls.ts';
import type { CallNow } from '../eligibility.ts';

/**
 * Judges a call again from `classify`, without what that step and later ones established: the rules
 * or the workflow that they went by have changed. What it sends in pieces is joined once, since the
 * pieces are forgotten then. Proven by changed-rules.test.ts.
 */
export function judgeAgain(
  call: ClassifiedCall & Partial<Pick<ScannedCall, 'dlp'>>,
  now: CallNow,
): Again {
  const { id, caller, ask, grant, ineligibility, requester, dlp } = call;
  const fragments = dlp ? dlp.findings.filter(isOfPieces) : call.fragments;
  const again: AgentCall = {
    id,
    caller,
    ask,
    grant,
    ...(ineligibility && { ineligibility }),
    ...(requester && { requester }),
    ...(fragments && { fragments }),
    ...now,
  };
  return { kind: 'again', call: again, from: 'classify' };
}
