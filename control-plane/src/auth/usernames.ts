/**
 * Names that administrators log in with: unique over all tenants, in any case. New ones are of the
 * letters that addresses of e-mail are made of, so that none looks like another's.
 */
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

/** For a new password; the most that a log-in takes. */
export const NewPassword = Text.min(8).max(1000);

/** What a name counts as, wherever attempts are counted: its case and width do not matter. */
export function comparableUsername(username: string): string {
  return username.normalize('NFKC').toLowerCase();
}
