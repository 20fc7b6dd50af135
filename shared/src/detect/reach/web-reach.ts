/** Deletes over HTTP of everything that a name stands for: `DELETE /_all` of a search server. */
import type { WholeReach } from './program-reach.ts';
import { wordSet } from './word-set.ts';

const PROGRAMS = wordSet('curl curl.exe wget http https xh gh glab');
const METHOD = /^(?:(?:-X|--request=|--method=)?DELETE)$/i;

/** Of the APIs of GitHub and GitLab. */
const WHOLE =
  /^(?:https?:\/\/[^/?#]{1,200}(?:\/[^/?#]{1,40}){0,3})?\/?(?:repos\/[^/?#]{1,200}\/[^/?#]{1,200}|(?:projects|groups|orgs)\/[^/?#]{1,400})\/?(?:[?#]|$)/i;

/** Names that stand for all things of a kind. */
export const isAllName = (name: string): boolean => name === '*' || name.toLowerCase() === '_all';

/** Whether the last segment of a web address is a wildcard. */
export function isWildAddress(text: string): boolean {
  const [path = ''] = text.split(/[?#]/, 1);
  const last = path.endsWith('/') ? path.slice(0, -1) : path;
  const name = last.slice(last.lastIndexOf('/') + 1).replaceAll(/%2a/gi, '*');
  return name.includes('*') || isAllName(name.replaceAll(/%5f/gi, '_'));
}

/** What the words of a command delete over HTTP. */
export function findWebReach(words: readonly string[]): WholeReach | undefined {
  if (!words.some((word) => METHOD.test(word))) return undefined;
  if (!words.some((word) => PROGRAMS.has(word.slice(word.lastIndexOf('/') + 1)))) return undefined;
  if (words.some((word) => WHOLE.test(word))) {
    const message = 'the call deletes a whole repository or project, over HTTP';
    return { rule: 'delete_whole', verdict: 'escalate', message };
  }
  if (!words.some((word) => word.includes('/') && isWildAddress(word))) return undefined;
  const message = 'the call deletes by a wildcard, over HTTP';
  return { rule: 'delete_wildcard', verdict: 'escalate', message };
}
