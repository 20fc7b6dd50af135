/** Results in the form that modern clients expect (MCP 2026-07-28): each states its type. */
import { isObject } from '../../upstream/message.ts';
import { mayBeOfType } from '../../upstream/modern/results.ts';
import { withMember } from '../json-members.ts';

/** The results that a client may cache. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
]);

/**
 * Adds to a result's text what every result has: its type, and how long and for whom it may be
 * cached. A type that the method cannot have comes from a legacy server, where the word means
 * nothing. What a server lets everybody cache is private here: another agent may not see as much.
 *
 * @param raw JSON of an object as the server or the gateway wrote it; `value` is what it says
 */
export function modernResult(method: string, raw: string, value: unknown): string {
  if (!isObject(value)) return raw;
  const added: string[] = [];
  let text = raw;
  let current = value;
  const rewrite = (member: string, renewed: unknown) => {
    text = withMember(text, current, member, renewed);
    current = { ...current, [member]: renewed };
  };
  if (!Object.hasOwn(value, 'resultType')) added.push('"resultType":"complete"');
  else if (!mayBeOfType(method, value.resultType)) rewrite('resultType', 'complete');
  const isWhole = (current.resultType ?? 'complete') === 'complete';
  if (isWhole && CACHEABLE.has(method)) {
    if (!isDuration(value.ttlMs)) {
      if (Object.hasOwn(value, 'ttlMs')) rewrite('ttlMs', 0);
      else added.push('"ttlMs":0');
    }
    if (!Object.hasOwn(value, 'cacheScope')) added.push('"cacheScope":"private"');
    else if (value.cacheScope !== 'private') rewrite('cacheScope', 'private');
  }
  if (added.length === 0) return text;
  const rest = text.slice(text.indexOf('{') + 1);
  const isEmpty = Object.keys(value).length === 0;
  return `{${added.join(',')}${isEmpty ? '' : ','}${rest}`;
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
