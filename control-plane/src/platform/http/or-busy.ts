import { AppError } from '@governance/shared/errors';
import type { FastifyReply } from 'fastify';

/** In seconds. */
const RETRY_AFTER = '5';

/** Answers Retry-After when too many are served already. */
export async function orBusy<T>(reply: FastifyReply, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.status === 503) reply.header('retry-after', RETRY_AFTER);
    throw error;
  }
}
