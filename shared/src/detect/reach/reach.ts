/**
 * How far one call may reach (specification 1, step 4d): to how many recipients, how high a delete,
 * to how many items, into which files. Pure, and linear in the arguments. docs/blast-radius.md says
 * what denies and what escalates.
 */
import type { BlastRadiusSettings } from '../../blast-radius-settings.ts';
import { wordsOfName } from '../../words-of-name.ts';
import { MAX_NAME, readArgumentName } from './argument-kinds.ts';
import { ArgumentReader } from './argument-reader.ts';
import { createPathRules } from './path-rules.ts';
import { graver, type ReachCall, type ReachFinding, type ReachRule } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

/** Returns at most one finding per rule, the gravest; none if the call stays within bounds. */
export type FindReach = (call: ReachCall) => readonly ReachFinding[];

/** Prepares a tenant's settings, once per bundle. */
export function createReachFinder(settings: BlastRadiusSettings): FindReach {
  const judgePath = createPathRules(settings);
  return (asked) => {
    const call = asksForDelete(asked) ? { ...asked, action: 'delete' as const } : asked;
    const found = new Map<ReachRule, ReachFinding>();
    const tell = (finding: ReachFinding) => {
      found.set(finding.rule, graver(found.get(finding.rule), finding));
    };
    const reader = new ArgumentReader(call, settings.bulk_action_threshold, tell);
    reader.read();
    for (const touched of reader.paths) for (const finding of judgePath(touched)) tell(finding);
    const { email_recipient_limit: most, bulk_action_threshold: threshold } = settings;
    const recipients = reader.recipients.size;
    if (call.action !== 'read' && recipients > most) {
      const message = `the call has ${recipients} recipients, and ${most} are allowed`;
      tell({ rule: 'email_recipients', verdict: 'escalate', message, place: reader.recipientsAt });
    }
    if (call.action !== 'read' && reader.items > threshold) {
      const message = `the call changes ${reader.items} things at once, and ${threshold} are allowed`;
      tell({ rule: 'bulk_action', verdict: 'escalate', message, place: reader.itemsAt });
    }
    if (call.action === 'delete' && WHOLE.has(wordsOfName(call.name).at(-1) ?? '')) {
      const message = 'the call deletes a whole store of data';
      tell({ rule: 'delete_whole', verdict: 'escalate', message, place: '' });
    }
    return [...found.values()];
  };
}

/**
 * Containers of everything that somebody has: the last word of the name of a tool that deletes one.
 */
const WHOLE = wordSet(
  'database databases schema schemas keyspace keyspaces cluster clusters bucket buckets volume volumes repository repositories tenant tenants organization organizations',
);

const OPERATIONS = wordSet('operation op action verb method mode');
const DELETES = wordSet('delete remove rm rmdir unlink erase purge wipe');

/** For a tool that does several things, an argument says which. */
function asksForDelete({ action, args }: ReachCall): boolean {
  if (action === 'read') return false;
  for (const key of Object.keys(args)) {
    const value = args[key];
    if (typeof value !== 'string' || value.length > 100) continue;
    const name = key.length > MAX_NAME ? wordsOfName(key).at(-1) : readArgumentName(key).last;
    if (!OPERATIONS.has(name ?? '')) continue;
    if (DELETES.has(wordsOfName(value)[0] ?? '')) return true;
  }
  return false;
}
