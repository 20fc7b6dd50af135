import { CodedError } from '@governance/shared/coded-error';
import { AppError, type ErrorCode, type FieldError } from '@governance/shared/errors';

/** An error answer of a control plane over the network, or no answer. */
export class LinkError extends AppError {
  /** Retry-After in milliseconds; null where it was not sent. */
  readonly retryAfterMs: number | null;
  /** Whether the control plane itself said so: not a proxy, and not a missing answer. */
  readonly isSaid: boolean;
  /** Whether the control plane failed on this request, rather than being away or busy. */
  readonly isFault: boolean;

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: FieldError[];
      cause?: unknown;
      retryAfterMs?: number | null;
      isSaid?: boolean;
      isFault?: boolean;
    } = {},
  ) {
    super(code, detail, options);
    this.name = 'LinkError';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isSaid = options.isSaid ?? false;
    this.isFault = options.isFault ?? false;
  }
}

/** The control plane answered, and the answer is not what was agreed. */
export class AnswerRefusedError extends CodedError<'answer_malformed' | 'answer_too_large'> {}
