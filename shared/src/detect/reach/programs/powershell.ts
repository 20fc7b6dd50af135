/** What PowerShell's cmdlets do with what a pipe hands them, and with its options. */

import type { TouchedPath } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';
import type { ShellCommand } from './shell-frame.ts';

const LISTS = wordSet('get-childitem gci get-item gi dir ls');
/** Those that no other shell has. */
const LISTS_FOR_SURE = wordSet('get-childitem gci get-item gi');
const DELETES = wordSet('remove-item ri');
/** An item's own method, in a block. */
const DELETES_ITSELF = /^\{?\$(?:_|psitem)\.delete$/i;
/** Names that other shells have as well, where they take nothing from a pipe. */
const MAY_DELETE = wordSet('del rm erase rd rmdir');
/** Parameters whose value is no place. */
const HAS_VALUE = /^-(?:filter|include|exclude|depth|attributes)$/i;

/**
 * Follows a pipeline: which places it has listed so far.
 *
 * @param before of the command before this one, if it is piped
 */
export function listedBy(command: ShellCommand, before: Listed | undefined): Listed | undefined {
  if (command.isPiped) return before;
  const [first, ...rest] = command.words;
  const name = nameOf(first);
  if (!LISTS.has(name)) return undefined;
  const places = rest.filter(
    (word, at) => !word.startsWith('-') && !HAS_VALUE.test(rest[at - 1] ?? ''),
  );
  const isWhole = name === 'get-item' || name === 'gi';
  return {
    // What is listed is in the folder, as with `find`.
    places: (places.length > 0 ? places : ['.']).map((one) => (isWhole ? one : below(one))),
    isSure: LISTS_FOR_SURE.has(name),
  };
}

const below = (place: string): string => `${place}${place.includes('\\') ? '\\' : '/'}*`;

export interface Listed {
  readonly places: readonly string[];
  readonly isSure: boolean;
}

/** The places in which a command deletes what a pipe hands it, also in a block of its own. */
export function deletesListed({ words, isPiped }: ShellCommand, listed: Listed): readonly string[] {
  if (!isPiped || onlyTells(words)) return [];
  const isDelete =
    words.some((word) => DELETES.has(nameOf(word)) || DELETES_ITSELF.test(word)) ||
    (listed.isSure && words.some((word) => MAY_DELETE.has(nameOf(word)))) ||
    (MAY_DELETE.has(nameOf(words[0])) && words.slice(1).every((word) => word.startsWith('-')));
  return isDelete ? listed.places : [];
}

/** Classes for files: `[IO.File]::WriteAllText('C:\\a', …)`. */
const CLASSES =
  /\[(?:System\.)?IO\.(?:File|Directory)\]::(Delete|WriteAll[a-z]{1,9}|AppendAll[a-z]{1,9}|Create)[a-z]{0,20}\(\s{0,9}(?:"([^"\n]{0,1000})"|'([^'\n]{0,1000})')/gi;

/** The paths that they delete and write, in a line of PowerShell. */
export function pathsOfClasses(line: string): Pick<TouchedPath, 'text' | 'use' | 'isRecursive'>[] {
  if (!line.includes(']::')) return [];
  return [...line.matchAll(CLASSES)].map(([, verb = '', double, single = '']) => ({
    text: double ?? single,
    use: verb.toLowerCase() === 'delete' ? 'delete' : 'write',
    isRecursive: true,
  }));
}

/** Cmdlets that delete things of a service, and those that only forget what a session holds. */
const REMOVES = /^(?:remove|clear|uninstall)-[a-z]{2,40}$/;
const OF_SESSION =
  /-(?:item|itemproperty|variable|module|job|event|alias|pssession|psbreakpoint|typedata|host|history|content)$/;

/** Whether a cmdlet deletes what a pipe hands it: `Get-AzVM | Remove-AzVM`. */
export function deletesHanded({ words, isPiped }: ShellCommand): boolean {
  if (!isPiped || words.some((word) => TELLS.test(word))) return false;
  return words.some((word) => {
    const name = nameOf(word);
    return REMOVES.test(name) && !OF_SESSION.test(name);
  });
}

/** What holds everything that somebody has, in a cloud or a company. */
const REMOVES_A_STORE =
  /^remove-[a-z]{1,30}?(?:resourcegroup|storageaccount|storagecontainer|sqldatabase|sqlserver|keyvault|bucket|dynamodbtable|ddbtable|cluster|datastore|mailboxdatabase|database|spsite|pnptenantsite|unifiedgroup|subscription|vhd|volume|partition|storagepool|virtualdisk)$/;

/** Whether a cmdlet deletes such a store by its name: `Remove-AzResourceGroup`. */
export const removesStore = ({ words }: ShellCommand): boolean =>
  words.some((word) => REMOVES_A_STORE.test(nameOf(word))) &&
  !words.some((word) => TELLS.test(word));

/** Programs of other shells, such as `del-cli`, may ignore an option that they do not know. */
const CMDLET = /^(?:ri|(?:remove|clear|move|rename|copy|set|add|new|out|format)-[a-z]{2,20})$/;
const TELLS = /^-(?:whatif|wi)(?::\$true)?$/i;

/** Whether a cmdlet is asked what it would do: -WhatIf, and not as the last item of a list. */
export function onlyTells(words: readonly string[]): boolean {
  if (!CMDLET.test(nameOf(words[0]))) return false;
  return words.some((word, at) => TELLS.test(word) && !words[at - 1]?.endsWith(','));
}
