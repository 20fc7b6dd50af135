import pino, { type DestinationStream, type Logger } from 'pino';

/** Where callers put secrets; our own are `Secret`s, which never show themselves. */
const REDACTED = [
  'authorization',
  'password',
  'client_secret',
  'secret',
  'token',
  'access_token',
].flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/**
 * The service's log: one JSON line an event.
 *
 * @param debug SERVICE_DEBUG
 */
export function createLog({ debug }: { debug: boolean }, destination?: DestinationStream): Logger {
  const options = {
    level: debug ? 'debug' : 'info',
    redact: { paths: REDACTED, censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    base: undefined,
    serializers: { err: showError },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** What helps to fix it. A database error's own fields contain the whole connection. */
function showError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, code, stack, ...(cause ? { cause: showError(cause) } : {}) };
}
