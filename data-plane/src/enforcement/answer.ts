/** The one answer of a call, whoever gives it. Handlers write it out once an era. */
import type { UpstreamAnswer, UpstreamFailure } from '../upstream/upstream.ts';

/** The gateway's own refusal. `status` is the HTTP status where the answer stands alone. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown> | undefined;
  readonly challenge?: 'basic' | 'bearer' | undefined;
  /** Why there is no answer, for record and log: the agent is not told its message. */
  readonly failure?: UpstreamFailure | undefined;
}

/** Nobody expects an answer any more. */
export interface Cancelled {
  readonly kind: 'cancelled';
  readonly failure?: UpstreamFailure | undefined;
}

/** What the runtime of a model says of one call, as the record has it; null where it says nothing. */
export interface ModelUsage {
  /** The HTTP status of its answer. */
  readonly status: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly finish_reason: string | null;
}

/** What a model said was passed on as it came, and nothing of it is kept. */
export interface ModelAnswer {
  readonly kind: 'model';
  readonly usage: ModelUsage;
  /** That were passed on. */
  readonly bytes: number;
  /** Whether the runtime answered with an error, or ended its stream with one. */
  readonly isError: boolean;
  /** Why the answer broke off, if it did. */
  readonly failure?: UpstreamFailure | undefined;
}

/** `UpstreamAnswer`: the result, or the JSON-RPC error, of who was asked. */
export type Answer = UpstreamAnswer | Refusal | Cancelled | ModelAnswer;

/** Whether something thrown is a refusal that only has to be handed on. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refusal';
}
