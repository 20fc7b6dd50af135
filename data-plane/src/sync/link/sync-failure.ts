import { AppError } from '@governance/shared/errors';
import { zodFault } from '@governance/shared/http/zod-fault';
import { ZodError } from 'zod';

/** Why a part of the synchronisation failed; null once it succeeded. */
export interface SyncFailure {
  /** What was being done, such as `pull`, `verify`, `apply` or `ship`. */
  stage: string;
  code: string;
  message: string;
  at: string;
}

/** The part of pino's interface that synchronisation uses. */
export interface SyncLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A short code for any thrown value. */
export function failureCode(error: unknown): string {
  if (error instanceof AppError) return error.code;
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}

export function failureMessage(error: unknown): string {
  if (error instanceof ZodError) return zodFault(error);
  return error instanceof Error ? error.message : String(error);
}

/** @param now Unix milliseconds */
export function toSyncFailure(stage: string, error: unknown, now: number): SyncFailure {
  const at = new Date(now).toISOString();
  return { stage, code: failureCode(error), message: failureMessage(error), at };
}

/** A failure in a line of the log, where `msg` already names its message. */
export function aboutFailure({ stage, code, message, at }: SyncFailure) {
  return { stage, code, reason: message, at };
}

/**
 * Whether a code means that something arrived and was refused for its content. Those codes are our
 * own, in lower case; codes of AppError, of SQLite and of the network are in capitals.
 */
export function isRefusedCode(code: string): boolean {
  return /^[a-z][a-z_]+$/.test(code) && code !== 'unknown';
}
