import pino, { type DestinationStream, type Logger } from 'pino';

/** Where callers put secrets; what we hold ourselves is a `Secret`, which shows itself to nobody. */
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
  };
  return destination ? pino(options, destination) : pino(options);
}
