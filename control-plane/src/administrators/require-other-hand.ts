import { AppError, type ErrorCode } from '@governance/shared/errors';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { findResolvers } from './find-resolvers.ts';

/**
 * Nobody approves their own proposal while another user could. Names are compared too: an account
 * may have been deleted and created again.
 *
 * @param refusal the error code when it is the caller's own
 * @throws AppError `refusal`; UNAUTHENTICATED when the caller has lost the role
 */
export async function requireOtherHand(
  tx: TenantTransaction,
  { authorId, author }: { authorId: string; author: string },
  refusal: ErrorCode,
): Promise<void> {
  const { actor } = tx.scope;
  const resolvers = await requireResolver(tx);
  const isOwn = authorId === actor.id || author === actor.username;
  if (isOwn && resolvers.some((id) => id !== actor.id)) throw new AppError(refusal);
}

/**
 * Checks the caller's role again in the transaction of the decision: it may have been taken away
 * since the guard ran.
 *
 * @returns the ids of all users who may decide
 * @throws AppError UNAUTHENTICATED
 */
export async function requireResolver(tx: TenantTransaction): Promise<string[]> {
  const { actor, breakGlass } = tx.scope;
  const resolvers = await findResolvers(tx);
  if (!breakGlass && !resolvers.includes(actor.id)) throw new AppError('UNAUTHENTICATED');
  return resolvers;
}
