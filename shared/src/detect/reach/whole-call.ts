/** What a call does as a whole, as the name of its tool and its own arguments say together. */
import type { CallScope } from './call-scope.ts';
import { DELETES_A_STORE, deletesStore } from './deleted-store.ts';
import { findToolReach } from './programs/tool-program.ts';
import { EVERYTHING } from './queries/mongo-reach.ts';
import type { WholeReach } from './reach-finding.ts';
import { sendsToAudience, TO_AUDIENCE } from './recipients/whole-audience.ts';
import { selectsNothing } from './unbounded-tool.ts';

/** @returns nothing for a read */
export function findWholeCall({ call, tool, operation }: CallScope): readonly WholeReach[] {
  if (call.action === 'read') return [];
  const found: WholeReach[] = [];
  const whole = findToolReach(tool.words, call.args);
  if (whole) found.push(whole);
  if (selectsNothing(call, tool.words)) found.push(EVERYTHING);
  if (call.action === 'delete' && deletesStore(call, tool.words, operation)) {
    found.push(DELETES_A_STORE);
  }
  if (sendsToAudience(tool.words, call.args)) found.push(TO_AUDIENCE);
  return found;
}
