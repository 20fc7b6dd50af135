/** What is said on its way to a caller, and what the inspection makes of it. */
import type { DlpFinding, InboundFinding } from '@governance/shared/detect/findings';
import type { UpstreamAnswer, UpstreamNotification } from '../upstream/upstream.ts';
import type { Refusal } from './answer.ts';
import type { Caller, Destination, JudgedCall } from './calls.ts';
import type { Judgement, Pipeline } from './pipeline-builder.ts';

/** Something that was said on its way to a caller: an answer, or a notification. */
export interface Said {
  readonly speaker: Destination['speaker'];
  readonly caller: Caller;
  readonly serverId: string;
  /** The call that it belongs to; null where a server said it of its own accord. */
  readonly call: JudgedCall | null;
  /** A step that changes it replaces it, and puts its name into `replacedBy`. */
  readonly part: SaidPart;
  readonly replacedBy?: string;
  /** The end of the texts that came before in the same stream: for what is split over two parts. */
  readonly carry: string;
  /** What the steps found so far; absent where they found nothing. */
  readonly findings?: Findings;
}

/** What an inspection found, also where it passed the part on. */
export interface Findings {
  readonly inbound: readonly InboundFinding[];
  readonly dlp: readonly DlpFinding[];
}

const NO_FINDINGS: Findings = { inbound: [], dlp: [] };

/** Adds what a step found to what the steps before it found. */
export function withFindings(said: Said, found: Partial<Findings>): Said {
  const { inbound, dlp } = said.findings ?? NO_FINDINGS;
  const findings = {
    inbound: [...inbound, ...(found.inbound ?? [])],
    dlp: [...dlp, ...(found.dlp ?? [])],
  };
  return { ...said, findings };
}

export type SaidPart = UpstreamAnswer | ({ readonly kind: 'notification' } & UpstreamNotification);

/** All texts in a value, one after the other. */
export function textsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textsOf).join('');
}

export interface Inspected {
  /** What is passed on, changed or not; where it is blocked, as the last step saw it. */
  readonly part: SaidPart;
  /** The step that blocked or replaced it; absent where it is passed on as it came. */
  readonly step?: string | undefined;
  /** Why nothing is passed on, if so: begins with the step. */
  readonly blocked?: string;
  /** What a step says is answered instead. */
  readonly refusal?: Refusal | undefined;
  /** A person has to decide about it: it is blocked until then. */
  readonly isHeld?: true;
  /** What a step threw. */
  readonly error?: unknown;
  readonly findings?: Findings | undefined;
}

/** At once, unless a step waits. Never throws, never rejects. */
export type Inspect = (said: Said) => Inspected | Promise<Inspected>;

/** Builds it of the list of the steps. */
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
      // What needs a person's consent is passed on by nobody else than who asks one.
      return {
        part,
        step: judgement.step,
        blocked: `${judgement.step}: it needs a person's consent`,
        isHeld: true,
        findings,
      };
  }
}
