/** Answers and messages on their way to a caller, and the result of their inspection. */
import type { DlpFinding, InboundFinding } from '@governance/shared/detect/findings';
import type { ActiveRules, RulesProvider } from '../../contracts.ts';
import { LIST_MEMBERS } from '../../upstream/lists/list-page.ts';
import type { UpstreamAnswer, UpstreamNotification } from '../../upstream/upstream.ts';
import type { Refusal } from './answer.ts';
import type { Caller, Destination, JudgedCall } from './calls.ts';
import type { Judgement, Pipeline } from './pipeline-builder.ts';

/** One answer or notification, of a server or of a client that was asked, on its way to its receiver. */
export interface ReceivedMessage {
  readonly speaker: Destination['speaker'];
  readonly caller: Caller;
  /** Empty in an answer of the unified gateway's own. */
  readonly serverId: string;
  /** The call that it belongs to; null where a server sent it unprompted. */
  readonly call: JudgedCall | null;
  /** Set where a server says something of itself. */
  readonly isIntroduction?: boolean;
  /** A step that changes it puts a new part here, and its name into `replacedBy`. */
  readonly part: ReceivedPart;
  readonly replacedBy?: string;
  /** Of a list of tools: the names in it that waited for approval when it arrived. */
  readonly waiting?: ReadonlySet<string> | undefined;
  /** The end of earlier texts of the same stream, to find what is split over two parts. */
  readonly carry: string;
  /** How many characters of it are of the last of these texts; none unless given. */
  readonly carriedLast?: number;
  /** The findings of the steps so far; absent where there are none. */
  readonly findings?: Findings;
}

/** The findings of an inspection, also where the part was passed on. */
export interface Findings {
  readonly inbound: readonly InboundFinding[];
  readonly dlp: readonly DlpFinding[];
}

/**
 * The rules by which a part is inspected: those in force now, since its call may have been under way
 * for minutes. Null where there never were any.
 */
export function rulesFor(
  { call, caller }: Pick<ReceivedMessage, 'call' | 'caller'>,
  rules: RulesProvider,
): ActiveRules | null {
  return rules.findActiveRules(caller.tenantId) ?? call?.rules ?? null;
}

const NO_FINDINGS: Findings = { inbound: [], dlp: [] };

/** Adds a step's findings to those of the steps before it. */
export function withFindings(received: ReceivedMessage, found: Partial<Findings>): ReceivedMessage {
  const { inbound, dlp } = received.findings ?? NO_FINDINGS;
  const findings = {
    inbound: [...inbound, ...(found.inbound ?? [])],
    dlp: [...dlp, ...(found.dlp ?? [])],
  };
  return { ...received, findings };
}

export type ReceivedPart =
  | UpstreamAnswer
  | ({ readonly kind: 'notification' } & UpstreamNotification);

/** The member of a list's result that holds its items; undefined if it is no list. */
export function listMember({ call, part }: ReceivedMessage): string | undefined {
  if (call === null || part.kind !== 'result') return undefined;
  const members: Readonly<Record<string, string>> = LIST_MEMBERS;
  return Object.hasOwn(members, call.ask.method) ? members[call.ask.method] : undefined;
}

/** Members beside a message's texts: they would separate what is split over two messages. */
const BESIDE: ReadonlySet<string> = new Set([
  ...['progressToken', 'level', 'logger'],
  ...['type', 'role', 'uri', 'mimeType'],
]);

/** All texts in a message, joined. */
export function textsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const texts = Object.entries(value).map(([name, one]) => (BESIDE.has(name) ? '' : textsOf(one)));
  return texts.join('');
}

/** What inspection found in a part, and did to it. */
export interface Inspection {
  /** The step that blocked or replaced it; absent when passed on unchanged. */
  readonly step?: string | undefined;
  /** Why it was blocked, beginning with the step; absent where it was not. */
  readonly blocked?: string;
  /** Set where it is to be held for a person. */
  readonly isHeld?: true | undefined;
  readonly findings?: Findings | undefined;
}

export interface Inspected extends Inspection {
  /** The part that is passed on, changed or not; if blocked, as the last step received it. */
  readonly part: ReceivedPart;
  /** The answer that the blocking step gives instead. */
  readonly refusal?: Refusal | undefined;
  /** What a step threw. */
  readonly error?: unknown;
}

/** Synchronous unless a step returns a promise. Never throws or rejects. */
export type Inspect = (received: ReceivedMessage) => Inspected | Promise<Inspected>;

/** Builds the inspection from its list of steps. */
export function createInspect<Deps>(
  inspection: Pipeline<ReceivedMessage, ReceivedMessage, Deps>,
  deps: Deps,
): Inspect {
  return (received) => {
    const judging = inspection.run(received, deps);
    return judging instanceof Promise ? judging.then(toInspected) : toInspected(judging);
  };
}

function toInspected(judgement: Judgement<ReceivedMessage, ReceivedMessage>): Inspected {
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
      // Blocked here; a caller that can hold results holds it instead (`isHeld`).
      return {
        part,
        step: judgement.step,
        blocked: `${judgement.step}: it needs a person's consent`,
        isHeld: true,
        findings,
      };
  }
}
