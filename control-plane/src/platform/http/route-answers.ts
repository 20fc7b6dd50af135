/**
 * The errors that a route can answer: its own, and those that follow from its guard, method and
 * input. tests/support/documented-answers.ts checks every answer of the tests against it.
 */
import type { GuardName } from './route-table.ts';
import { ErrorBody } from './schemas.ts';

const ERROR_TEXTS: Record<number, string> = {
  400: 'The request is malformed.',
  401: 'The token or the credentials are missing, wrong or expired.',
  403: 'This caller may not do that.',
  404: 'It does not exist, or belongs to another tenant.',
  406: 'The Accept header names no media type that this route has.',
  409: 'It conflicts with the present state: the detail says how.',
  410: 'It cannot be continued from this cursor.',
  413: 'The body is larger than this route accepts.',
  415: 'The content type is not accepted here.',
  416: 'The file has no such range of bytes.',
  422: 'A field is missing or wrong.',
  429: 'Too many requests: Retry-After says when to come back.',
  500: 'Something went wrong; the detail carries the request id.',
  503: 'The service cannot answer now: try again.',
};

/** Adds the general errors to a route's schema. */
export function withErrors(schema: object, method: string | string[], guard: GuardName): object {
  const { response, ...takes } = schema as Record<string, unknown>;
  if (response === undefined) return schema;
  const own = response as Record<string, unknown>;
  const implied = impliedStatuses(takes, method, guard).map((status) => [status, ErrorBody]);
  const answers = { ...Object.fromEntries(implied), ...own } as Record<string, unknown>;
  return {
    ...schema,
    response: Object.fromEntries(
      Object.entries(answers).map(([status, body]) => [status, describe(Number(status), body)]),
    ),
  };
}

/** Errors are always JSON. */
function describe(status: number, body: unknown): unknown {
  const description = ERROR_TEXTS[status];
  if (description === undefined) return body;
  if (Object.hasOwn(body as object, 'content')) return body;
  return { description, content: { 'application/json': { schema: body } } };
}

function impliedStatuses(
  { body, params, querystring }: Record<string, unknown>,
  method: string | string[],
  guard: GuardName,
): number[] {
  const isOfAdmins = guard.includes('admin');
  const entersTenant = isOfAdmins && guard !== 'super-admin';
  // The framework reads any body that is sent, even if the route takes none.
  const readsBody = method !== 'GET';
  const names: [boolean, number[]][] = [
    [true, [500]],
    [guard !== 'public', [401]],
    [isOfAdmins, [403]],
    // X-Tenant-Id: missing, unknown, empty.
    [entersTenant, [400, 422]],
    [guard === 'admin' || guard === 'admin-or-platform', [404]],
    [readsBody, [400, 413, 415]],
    [body !== undefined || querystring !== undefined, [422]],
    [params !== undefined, [404]],
    // The database is unreachable.
    [(guard !== 'public' && guard !== 'metrics') || readsBody, [503]],
  ];
  return [...new Set(names.flatMap(([applies, statuses]) => (applies ? statuses : [])))].sort();
}
