/** What tests say of the reach of a call: the verdict and the rule of each finding, in order. */
import {
  type BlastRadiusSettings,
  DEFAULT_BLAST_RADIUS,
} from '../detect/reach/blast-radius-settings.ts';
import { createReachFinder } from '../detect/reach/reach.ts';
import type { ReachCall } from '../detect/reach/reach-finding.ts';

/** @param settings those of a new tenant unless given */
export function createReach(settings: BlastRadiusSettings = DEFAULT_BLAST_RADIUS) {
  const find = createReachFinder(settings);
  return (name: string, action: ReachCall['action'], args: ReachCall['args']) =>
    find({ name, action, args })
      .map(({ rule, verdict }) => `${verdict} ${rule}`)
      .sort();
}

/** The same of a command line. */
export function createCommandReach(settings?: BlastRadiusSettings) {
  const reach = createReach(settings);
  return (command: string) => reach('run_command', 'execute', { command });
}
