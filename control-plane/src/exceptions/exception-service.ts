/**
 * Standing exceptions. Each change commits with its fact and its record; the request is answered
 * once the local data plane has applied it. Proven by exception-routes.pg.test.ts.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { requireOtherHand } from '../administrators/require-other-hand.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { requiresChangeRequests } from '../tenants/tenant-settings-store.ts';
import { createException } from './create-exception.ts';
import {
  after,
  isTooLong,
  MAX_DENY_HOURS,
  type NewException,
  type StandingException,
  statusAt,
  targetOf,
  toFact,
} from './exception.ts';
import { revokeException } from './exception-endings.ts';
import { type ExceptionFilter, exceptionStore } from './exception-store.ts';

export interface ExceptionServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  now: () => Date;
}

export type ExceptionService = ReturnType<typeof createExceptionService>;

export function createExceptionService({ db, applied, now }: ExceptionServiceDeps) {
  async function change(
    scope: TenantScope,
    work: (tx: TenantTransaction, at: Date) => Promise<StandingException>,
  ): Promise<StandingException> {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, (tx) => work(tx, now()));
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    list: (scope: TenantScope, filter: ExceptionFilter, page: Page) =>
      db.inTenant(scope, (tx) => exceptionStore(tx).list(filter, now(), page)),

    /** @throws AppError EXCEPTION_NOT_FOUND */
    get: (scope: TenantScope, id: string): Promise<StandingException> =>
      db.inTenant(scope, async (tx) => orNotFound(await exceptionStore(tx).find(id))),

    /** See `createException`. */
    create: (scope: TenantScope, given: NewException): Promise<StandingException> =>
      change(scope, (tx, at) => createException(tx, given, at)),

    /**
     * @throws AppError EXCEPTION_NOT_FOUND, EXCEPTION_NOT_ACTIVE, EXCEPTION_EXTENSIONS_EXHAUSTED,
     *   EXCEPTION_REVIEW_REQUIRED; VALIDATION_FAILED where a denial would be lifted for too long
     */
    extend: (scope: TenantScope, id: string, hours: number): Promise<StandingException> =>
      change(scope, (tx, at) => extend(tx, id, { hours, at })),

    /** Ends it at once; a revoked one stays revoked. @throws AppError EXCEPTION_NOT_ACTIVE */
    revoke: (scope: TenantScope, id: string): Promise<StandingException> =>
      change(scope, async (tx, at) => {
        const exception = await lock(tx, id);
        const status = statusAt(exception, at);
        if (status === 'revoked') return exception;
        if (status !== 'active' && status !== 'pending') throw notActive(status);
        await revokeException(tx, exception, at);
        return lock(tx, id);
      }),

    /** @throws AppError EXCEPTION_NOT_PENDING, OWN_EXCEPTION */
    approve: (scope: TenantScope, id: string, notes: string | null): Promise<StandingException> =>
      change(scope, async (tx, at) => {
        const pending = await lockPending(tx, id, at);
        const { createdById: authorId, createdBy: author } = pending;
        await requireOtherHand(tx, { authorId, author }, 'OWN_EXCEPTION');
        const active = await review(tx, pending, { status: 'active', notes, at });
        tx.feed.append(toFact(active));
        return active;
      }),

    /** Also withdraws the caller's own. @throws AppError EXCEPTION_NOT_PENDING */
    reject: (scope: TenantScope, id: string, notes: string | null): Promise<StandingException> =>
      change(scope, async (tx, at) => {
        const pending = await lockPending(tx, id, at);
        return review(tx, pending, { status: 'rejected', notes, at });
      }),
  };
}

async function extend(
  tx: TenantTransaction,
  id: string,
  { hours, at }: { hours: number; at: Date },
): Promise<StandingException> {
  const before = await lock(tx, id);
  const status = statusAt(before, at);
  if (status !== 'active') throw notActive(status);
  if (before.extensionCount >= before.maxExtensions) {
    throw new AppError('EXCEPTION_EXTENSIONS_EXHAUSTED');
  }
  const expiresAt = after(before.expiresAt, hours);
  if (before.lifts === 'deny') {
    // Two people agreed to its duration, so one person cannot extend it.
    if (await requiresChangeRequests(tx)) throw new AppError('EXCEPTION_REVIEW_REQUIRED');
    if (isTooLong(before, expiresAt)) throw tooLong();
  }
  const { extensionCount } = before;
  const extended = { ...before, expiresAt, extensionCount: extensionCount + 1, updatedAt: at };
  await exceptionStore(tx).update(extended);
  tx.feed.append(toFact(extended));
  tx.audit.append({
    action: 'exception_extended',
    target: `exception/${id}`,
    details: {
      ...targetOf(extended),
      hours,
      expires_at: expiresAt.toISOString(),
      extension_count: extended.extensionCount,
    },
  });
  return extended;
}

async function review(
  tx: TenantTransaction,
  pending: StandingException,
  { status, notes, at }: { status: 'active' | 'rejected'; notes: string | null; at: Date },
): Promise<StandingException> {
  const reviewedBy = tx.scope.actor.username;
  const reviewed = { ...pending, status, notes, reviewedBy, reviewedAt: at, updatedAt: at };
  await exceptionStore(tx).update(reviewed);
  tx.audit.append({
    action: status === 'active' ? 'exception_approved' : 'exception_rejected',
    target: `exception/${pending.id}`,
    details: { ...targetOf(pending), author: pending.createdBy, notes },
  });
  return reviewed;
}

async function lock(tx: TenantTransaction, id: string): Promise<StandingException> {
  return orNotFound(await exceptionStore(tx).lock(id));
}

async function lockPending(
  tx: TenantTransaction,
  id: string,
  at: Date,
): Promise<StandingException> {
  const exception = await lock(tx, id);
  const status = statusAt(exception, at);
  if (status === 'pending') return exception;
  throw new AppError('EXCEPTION_NOT_PENDING', `The exception is ${status}.`);
}

function orNotFound(exception: StandingException | undefined): StandingException {
  if (!exception) throw new AppError('EXCEPTION_NOT_FOUND');
  return exception;
}

function notActive(status: string): AppError {
  return new AppError('EXCEPTION_NOT_ACTIVE', `The exception is ${status}.`);
}

function tooLong(): AppError {
  const msg = `a denial is lifted for at most ${MAX_DENY_HOURS} hours, extensions included`;
  const errors = [{ loc: ['body', 'hours'], msg, type: 'custom' }];
  return new AppError('VALIDATION_FAILED', `body.hours: ${msg}`, { errors });
}
