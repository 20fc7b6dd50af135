/** The answer of a call, from any destination. Handlers serialise it for the client's era. */
import type { UpstreamAnswer, UpstreamFailure } from '../../upstream/upstream.ts';

/** The gateway's own refusal. `status` is the HTTP status where the answer stands alone. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown> | undefined;
  readonly challenge?: 'basic' | 'bearer' | undefined;
  /** Why there is no answer, for record and log; the agent does not see its message. */
  readonly failure?: UpstreamFailure | undefined;
}

/** The call was cancelled: no answer is expected any more. */
export interface Cancelled {
  readonly kind: 'cancelled';
  readonly failure?: UpstreamFailure | undefined;
}

/**
 * The usage that a model's runtime reports for one call, as recorded; null where it reports none.
 */
export interface ModelUsage {
  /** The HTTP status of its answer. */
  readonly status: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly finish_reason: string | null;
}

/** A model's answer, which was streamed to the client and is not kept. */
export interface ModelAnswer {
  readonly kind: 'model';
  readonly usage: ModelUsage;
  /** Bytes passed on. */
  readonly bytes: number;
  /** Whether the runtime answered with an error, or ended its stream with one. */
  readonly isError: boolean;
  /** Why the answer broke off, if it did. */
  readonly failure?: UpstreamFailure | undefined;
}

/** `UpstreamAnswer`: the result, or the JSON-RPC error, of the destination. */
export type Answer = UpstreamAnswer | Refusal | Cancelled | ModelAnswer;

/** Whether a thrown value is a refusal to be returned as it is. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refusal';
}
