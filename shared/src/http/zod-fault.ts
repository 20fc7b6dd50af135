import type { ZodError } from 'zod';

/** What is wrong first, in one line: a ZodError's own message is JSON over many. */
export function zodFault({ issues }: Pick<ZodError, 'issues'>): string {
  const [issue] = issues;
  if (!issue) return 'it has another form';
  const path = issue.path.map(String).join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}
