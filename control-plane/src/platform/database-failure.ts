/** Explains what to change when the operator's own PostgreSQL cannot be used. */
import { errorCode, StartError } from '@governance/shared/start-error';

const AWAY = 'check host and port in it, and that PostgreSQL runs and listens there';
const MAY_NOT = 'see docs/database.md for the rights that the login needs';

// Error codes of the operating system, of TLS, and of PostgreSQL (its manual, appendix A).
const REASONS: Record<string, readonly [what: string, change: string]> = {
  ECONNREFUSED: ['nothing listens there', AWAY],
  ENOTFOUND: ['its host is unknown', AWAY],
  EAI_AGAIN: ['its host is unknown', AWAY],
  EHOSTUNREACH: ['its host cannot be reached', AWAY],
  ENETUNREACH: ['its host cannot be reached', AWAY],
  ETIMEDOUT: ['its host does not answer', AWAY],
  ECONNRESET: ['the connection was cut', AWAY],
  '28P01': ['the user or the password is wrong', 'correct them in it'],
  '28000': ['the server refuses this user', 'correct the user in it, or pg_hba.conf of the server'],
  '3D000': ['the database does not exist', 'make it (CREATE DATABASE), or name another in it'],
  '42501': ['its login lacks a privilege', MAY_NOT],
  '53300': ['the server has no connection left', 'raise max_connections of the server'],
  '57P03': ['the server is starting or stopping', 'start again when it is up'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["the server's certificate is not trusted", 'name its authority'],
  SELF_SIGNED_CERT_IN_CHAIN: ["the server's certificate is not trusted", 'name its authority'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "the server's certificate is not trusted",
    'name its authority',
  ],
  CERT_HAS_EXPIRED: ["the server's certificate has expired", 'renew it'],
};

// Errors of the driver that have no code, recognised by their text.
const TEXTS: readonly (readonly [text: string, what: string, change: string])[] = [
  ['timeout', 'the server does not answer', AWAY],
  ['does not support SSL', 'the server speaks no TLS', 'remove sslmode from it'],
  ['password must be a string', 'it has no password', 'put one into it'],
  ['Connection terminated', 'the connection was cut', AWAY],
];

/**
 * @param setting the variable that names the database
 * @returns one sentence, or the error itself when no setting can fix it
 */
export function describeDatabaseFailure(error: unknown, setting: string): unknown {
  const message = error instanceof Error ? error.message : '';
  const [what, change] =
    REASONS[errorCode(error) ?? ''] ??
    TEXTS.find(([text]) => message.includes(text))?.slice(1) ??
    [];
  if (!what) return error;
  return new StartError(`the database of ${setting} cannot be used: ${what}; ${change}`, {
    cause: error,
  });
}
