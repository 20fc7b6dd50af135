/**
 * Administrators' user names: unique across tenants, ignoring case. New ones use the characters of
 * e-mail addresses only, so that no name can look like another.
 */
import { AppError } from '@governance/shared/errors';
import { Text } from '@governance/shared/text';

export const SUPER_ADMIN_USERNAME = 'superadmin';

/** A name for a new user; stored in lower case. */
export const NewUsername = Text.max(200)
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9._'+@-]*$/,
    "must be letters without accents, digits and . _ - + ' @, and begin with a letter or digit",
  );

/** For a new password; also the longest that a log-in accepts. */
export const NewPassword = Text.min(8).max(1000);

/** The form under which attempts are counted: case and width do not matter. */
export function comparableUsername(username: string): string {
  return username.normalize('NFKC').toLowerCase();
}

export function takenUsername(): AppError {
  return new AppError('DUPLICATE_NAME', 'The username is taken.');
}
