/** The result types of modern servers, and how legacy clients see them. */
import { type UpstreamAnswer, UpstreamFailure } from '../upstream.ts';
import { dropMembers } from './members.ts';

export type ResultType = 'complete' | 'input_required' | 'task';

/** The types that a method's result may have beside `complete`. */
const MORE_TYPES: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['tools/call', ['input_required', 'task']],
  ['prompts/get', ['input_required']],
  ['resources/read', ['input_required']],
]);

/** Whether a method's result may have a type. */
export function mayBeOfType(method: string, type: unknown): type is ResultType {
  return type === 'complete' || MORE_TYPES.get(method)?.includes(type) === true;
}

/**
 * Returns the type of a result.
 *
 * @throws UpstreamFailure `malformed` for one that the method cannot have
 */
export function resultTypeOf(method: string, { value }: UpstreamAnswer): ResultType {
  const { resultType } = value as { resultType?: unknown };
  if (resultType === undefined) return 'complete';
  if (mayBeOfType(method, resultType)) return resultType;
  const named = JSON.stringify(resultType).slice(0, 50);
  throw new UpstreamFailure('malformed', `${method} was answered with a result of type ${named}`);
}

/** Members that legacy results do not have. */
const MODERN_MEMBERS = new Set(['resultType', 'ttlMs', 'cacheScope']);

/** A complete result as a legacy server would have written it. */
export function legacyResult(answer: UpstreamAnswer): UpstreamAnswer {
  const value = answer.value as Record<string, unknown>;
  if (!('resultType' in value || 'ttlMs' in value || 'cacheScope' in value)) return answer;
  const { resultType, ttlMs, cacheScope, ...rest } = value;
  return { kind: 'result', raw: dropMembers(answer.raw, MODERN_MEMBERS), value: rest };
}
