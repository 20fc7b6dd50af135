/** What is sent towards a caller, and the result of inspecting it. */
import type { DlpFinding, InboundFinding } from '@governance/shared/detect/findings';
import type { UpstreamAnswer, UpstreamNotification } from '../upstream/upstream.ts';
import type { Refusal } from './answer.ts';
import type { Caller, Destination, JudgedCall } from './calls.ts';
import type { Judgement, Pipeline } from './pipeline-builder.ts';

/** Something on its way to a caller: an answer, or a notification. */
export interface Said {
  readonly speaker: Destination['speaker'];
  readonly caller: Caller;
  readonly serverId: string;
  /** The call that it belongs to; null where a server sent it unprompted. */
  readonly call: JudgedCall | null;
  /** A step that changes it replaces it, and puts its name into `replacedBy`. */
  readonly part: SaidPart;
  readonly replacedBy?: string;
  /** The end of earlier texts in the same stream: for what is split over two parts. */
  readonly carry: string;
  /** The findings of the steps so far; absent without any. */
  readonly findings?: Findings;
}

/** The findings of an inspection, even if it passed the part on. */
export interface Findings {
  readonly inbound: readonly InboundFinding[];
  readonly dlp: readonly DlpFinding[];
}

const NO_FINDINGS: Findings = { inbound: [], dlp: [] };

/** Adds a step's findings to those of the steps before it. */
export function withFindings(said: Said, found: Partial<Findings>): Said {
  const { inbound, dlp } = said.findings ?? NO_FINDINGS;
  const findings = {
    inbound: [...inbound, ...(found.inbound ?? [])],
    dlp: [...dlp, ...(found.dlp ?? [])],
  };
  return { ...said, findings };
}

export type SaidPart = UpstreamAnswer | ({ readonly kind: 'notification' } & UpstreamNotification);

/** All texts in a value, joined. */
export function textsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textsOf).join('');
}

export interface Inspected {
  /** What is passed on, changed or not; if blocked, as the last step saw it. */
  readonly part: SaidPart;
  /** The step that blocked or replaced it; absent when passed on unchanged. */
  readonly step?: string | undefined;
  /** Why nothing is passed on, if so: begins with the step. */
  readonly blocked?: string;
  /** The answer that a step gives instead. */
  readonly refusal?: Refusal | undefined;
  /** Blocked until a person has decided. */
  readonly isHeld?: true;
  /** What a step threw. */
  readonly error?: unknown;
  readonly findings?: Findings | undefined;
}

/** Synchronous, unless a step waits. Never throws, never rejects. */
export type Inspect = (said: Said) => Inspected | Promise<Inspected>;

/** Builds it from the list of the steps. */
export function createInspect<Deps>(page: Pipeline<Said, Said, Deps>, deps: Deps): Inspect {
  return (said) => {
    const judging = page.run(said, deps);
    return judging instanceof Promise ? judging.then(toInspected) : toInspected(judging);
  };
}

function toInspected(judgement: Judgement<Said, Said>): Inspected {
  const { part, replacedBy, findings } = judgement.call;
  switch (judgement.verdict) {
    case 'allow':
      return { part, step: replacedBy, findings };
    case 'deny': {
      const { step, deny, error } = judgement;
      const hasThrown = 'error' in judgement;
      const why = hasThrown ? 'the inspection failed' : deny.message;
      const blocked = { part, step, blocked: `${step}: ${why}`, refusal: deny.refusal, findings };
      return hasThrown ? { ...blocked, error: error ?? new Error('thrown: nothing') } : blocked;
    }
    case 'escalate':
      // Only a holder of results can pass on what needs approval.
      return {
        part,
        step: judgement.step,
        blocked: `${judgement.step}: it needs a person's consent`,
        isHeld: true,
        findings,
      };
  }
}
