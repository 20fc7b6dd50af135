/**
 * How far one call may reach (specification 1, step 4d): to how many recipients, how high a delete,
 * to how many items, into which files. Pure, and linear in the arguments. docs/blast-radius.md says
 * what denies and what escalates.
 */

import { ArgumentReader } from './argument-reader.ts';
import type { BlastRadiusSettings } from './blast-radius-settings.ts';
import { createPathRules } from './path-rules.ts';
import {
  escalates,
  graver,
  type ReachCall,
  type ReachFinding,
  type ReachRule,
  tooMany,
} from './reach-finding.ts';
import { isChangingRequest } from './read-requests.ts';

/** Returns at most one finding per rule, the gravest; none if the call stays within bounds. */
export type FindReach = (call: ReachCall) => readonly ReachFinding[];

/** Characters of the folders where paths begin, counted for each path: all of them are read. */
const MAX_BASES = 1024 * 1024;
const TOO_LONG_BASES = escalates(
  'unreadable',
  'the call names too many paths in a folder with too long a name',
);

/** Prepares a tenant's settings, once per bundle. */
export function createReachFinder(settings: BlastRadiusSettings): FindReach {
  const judgePath = createPathRules(settings);
  return (asked) => {
    const call = asChange(asked);
    const found = new Map<ReachRule, ReachFinding>();
    const tell = (finding: ReachFinding) => {
      found.set(finding.rule, graver(found.get(finding.rule), finding));
    };
    const reader = new ArgumentReader(call, settings.bulk_action_threshold, tell);
    reader.read();
    let left = MAX_BASES;
    for (const touched of reader.paths) {
      const { base, place } = touched;
      left -= base?.length ?? 0;
      const isUnread = base !== undefined && left < 0;
      if (isUnread) tell({ ...TOO_LONG_BASES, place });
      const judged = isUnread ? { ...touched, base: undefined } : touched;
      for (const finding of judgePath(judged)) tell(finding);
    }
    const { email_recipient_limit: most, bulk_action_threshold: threshold } = settings;
    const recipients = reader.recipients.size;
    if (call.action !== 'read' && recipients > most) {
      const message = `the call has ${recipients} recipients, and ${most} are allowed`;
      tell({ rule: 'email_recipients', verdict: 'escalate', message, place: reader.recipients.at });
    }
    if (call.action !== 'read' && reader.items > threshold) {
      tell({ ...tooMany(reader.items, threshold), place: reader.itemsAt });
    }
    return [...found.values()].filter((finding) => !call.isDryRun || !isOfDryRun(finding));
  };
}

/** A tool that fetches pages reads, by its name, whatever method it is asked for. */
function asChange(call: ReachCall): ReachCall {
  const isChange = call.action === 'read' && isChangingRequest(call.args);
  return isChange ? { ...call, action: 'write' } : call;
}

/** Whether a dry run does without it: only what a person could allow, and a database would check. */
const isOfDryRun = ({ rule, verdict }: ReachFinding): boolean =>
  rule === 'sql_without_where' && verdict === 'escalate';
