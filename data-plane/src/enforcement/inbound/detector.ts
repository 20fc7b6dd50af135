import type { InboundFinding } from '@governance/shared/detect/findings';
import type { DetectionOptions, detectInjection } from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';

/** Finds injections in a text, or in all texts of a value. */
export interface Detector {
  inText: typeof detectInjection;
  inValue(value: unknown, options: DetectionOptions): Portioned<InboundFinding[]>;
}
