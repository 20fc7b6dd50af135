import { AppError, type ErrorCode } from '@governance/shared/errors';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { findResolvers } from './find-resolvers.ts';

/**
 * Nobody approves their own proposal while another could. By name too: an account may have been
 * deleted and made anew.
 *
 * @param refusal the code for who may not because it is their own
 * @throws AppError `refusal`; UNAUTHENTICATED for who lost the role meanwhile
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
 * Whoever decides may still do so in the transaction of the decision: the role may have been taken
 * away since the request was let in.
 *
 * @returns the ids of all who may
 * @throws AppError UNAUTHENTICATED
 */
export async function requireResolver(tx: TenantTransaction): Promise<string[]> {
  const { actor, breakGlass } = tx.scope;
  const resolvers = await findResolvers(tx);
  if (!breakGlass && !resolvers.includes(actor.id)) throw new AppError('UNAUTHENTICATED');
  return resolvers;
}
