import { CodedError } from '@governance/shared/coded-error';
import { AppError, type ErrorCode } from '@governance/shared/errors';

/** An error answer of a control plane over the network, or no answer. */
export class LinkError extends AppError {
  /** Retry-After in milliseconds; null where it was not sent. */
  readonly retryAfterMs: number | null;
  /** Whether the control plane itself said so, rather than a proxy or a missing answer. */
  readonly isFromControlPlane: boolean;
  /** Whether the control plane failed on this request, rather than being down or busy. */
  readonly isFault: boolean;

  constructor(
    code: ErrorCode,
    detail: string,
    options: Partial<
      Pick<LinkError, 'errors' | 'cause' | 'retryAfterMs' | 'isFromControlPlane' | 'isFault'>
    > = {},
  ) {
    super(code, detail, options);
    this.name = 'LinkError';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isFromControlPlane = options.isFromControlPlane ?? false;
    this.isFault = options.isFault ?? false;
  }
}

/** The control plane answered, but not in the agreed form. */
export class AnswerRefusedError extends CodedError<'answer_malformed' | 'answer_too_large'> {}
