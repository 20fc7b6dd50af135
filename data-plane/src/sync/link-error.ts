import { AppError, type ErrorCode, type FieldError } from '@governance/shared/errors';

/** What a control plane over the network answered, or that it did not. */
export class LinkError extends AppError {
  /** How long the other side asks to be left alone, null where it did not say. */
  readonly retryAfterMs: number | null;
  /** Whether the control plane said it itself: not a proxy, and not for want of an answer. */
  readonly isSaid: boolean;

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: FieldError[];
      cause?: unknown;
      retryAfterMs?: number | null;
      isSaid?: boolean;
    } = {},
  ) {
    super(code, detail, options);
    this.name = 'LinkError';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isSaid = options.isSaid ?? false;
  }
}

/** The control plane answered, and the answer is not what was agreed. */
export class AnswerRefusedError extends Error {
  readonly code: 'answer_malformed' | 'answer_too_large';

  constructor(code: AnswerRefusedError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AnswerRefusedError';
    this.code = code;
  }
}
