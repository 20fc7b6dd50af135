import { AppError } from '@governance/shared/errors';
import type { ByteRange } from './package-service.ts';

/**
 * The single range of a Range header (RFC 9110, section 14).
 *
 * @param header caller-controlled; several ranges and other units are ignored, as RFC 9110 allows
 * @param size of the file, 1 or more
 * @returns undefined when the whole file is requested
 * @throws AppError RANGE_NOT_SATISFIABLE
 */
export function readByteRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header ?? '');
  if (!match) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const suffix = Number(to);
    if (suffix === 0) throw new AppError('RANGE_NOT_SATISFIABLE');
    return { first: Math.max(0, size - suffix), last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) throw new AppError('RANGE_NOT_SATISFIABLE');
  return first > last ? undefined : { first, last };
}
