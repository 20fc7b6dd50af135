/** Explains what to change when the operator's own PostgreSQL cannot be used. */
import { errorCode, StartError } from '@governance/shared/process/start-error';

/** What to change, said of the variable that names the database. */
type Change = (setting: string) => string;
type Reason = readonly [what: string, change: Change];

const away: Change = (setting) =>
  `check host and port in ${setting}, and that PostgreSQL runs and listens there`;
const trust: Reason = [
  "the server's certificate is not trusted",
  (setting) => `name the file with the certificate of its authority as sslrootcert in ${setting}`,
];

// Error codes of the operating system, of TLS, and of PostgreSQL (its manual, appendix A).
const REASONS: Record<string, Reason> = {
  ECONNREFUSED: ['nothing listens there', away],
  ENOTFOUND: ['its host is unknown', away],
  EAI_AGAIN: ['its host is unknown', away],
  EHOSTUNREACH: ['its host cannot be reached', away],
  ENETUNREACH: ['its host cannot be reached', away],
  ETIMEDOUT: ['its host does not answer', away],
  ECONNRESET: ['the connection was cut', away],
  '28P01': [
    'the user or the password is wrong',
    (setting) => `correct the user or the password in ${setting}`,
  ],
  '28000': [
    'the server refuses this user',
    (setting) => `correct the user in ${setting}, or pg_hba.conf of the server`,
  ],
  '3D000': [
    'the database does not exist',
    (setting) => `create it (CREATE DATABASE), or name another one in ${setting}`,
  ],
  '42501': [
    'its login lacks a privilege',
    () =>
      'see "What the login needs" in docs/database.md; DATABASE_MIGRATION_URL may name another login',
  ],
  '53300': ['the server has no connection left', () => 'raise max_connections of the server'],
  '57P03': ['the server is starting or stopping', () => 'start again when it is up'],
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  CERT_HAS_EXPIRED: ["the server's certificate has expired", () => 'renew that certificate'],
};

// Errors of the driver that have no code, recognised by their text.
const TEXTS: readonly (readonly [text: string, reason: Reason])[] = [
  ['timeout', ['the server does not answer', away]],
  [
    'does not support SSL',
    ['the server speaks no TLS', (setting) => `remove sslmode from ${setting}`],
  ],
  [
    'password must be a string',
    ['the login needs a password', (setting) => `add the password to ${setting}`],
  ],
  ['Connection terminated', ['the connection was cut', away]],
];

/**
 * @param setting the variable that names the database
 * @returns one sentence, or the error itself when no setting can fix it
 */
export function describeDatabaseFailure(error: unknown, setting: string): unknown {
  const message = error instanceof Error ? error.message : '';
  const reason =
    REASONS[errorCode(error) ?? ''] ?? TEXTS.find(([text]) => message.includes(text))?.[1];
  if (!reason) return error;
  const [what, change] = reason;
  // Which one, only the server knows.
  const denied = errorCode(error) === '42501' ? ` (${message})` : '';
  return new StartError(
    `the database of ${setting} cannot be used: ${what}${denied}; ${change(setting)}`,
    { cause: error },
  );
}
