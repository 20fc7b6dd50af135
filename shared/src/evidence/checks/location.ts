/** Where something is wrong: a member, a line of it (from 1), a path within that. */
export interface Location {
  member: string;
  line?: number;
  path?: string;
}

/** @param line from 1 */
export const lineOf = (member: string, line: number): Location => ({ member, line });
