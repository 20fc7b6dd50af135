/**
 * Why the service cannot start, in one sentence that says what to change. Its message is shown to
 * the operator without a stack; any other error during a start is a bug of the service.
 */
export class StartError extends Error {
  override name = 'StartError';
}

/**
 * The `code` of an error of the system or of PostgreSQL; after several attempts, that of the first.
 */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
