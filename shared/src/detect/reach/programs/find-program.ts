/** What `find` does with what it finds. */

import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';

export interface FindReach {
  /** Paths that it deletes, with all that is in them. */
  readonly deletes: readonly string[];
  readonly writes: readonly string[];
  /** Commands that it runs. */
  readonly runs: readonly (readonly string[])[];
}

const RUNS = wordSet('-exec -execdir -ok -okdir');
const ENDS = wordSet('; +');
const WRITES = wordSet('-fprint -fprint0 -fprintf -fls');
/** Commands of one `find` that are read, at most. */
const MAX_RUNS = 8;

/** @param deletes names of programs that delete what they are given */
export function readFind(rest: readonly string[], deletes: ReadonlySet<string>): FindReach {
  const end = rest.findIndex((word) => /^[-(!]/.test(word));
  const places = end < 0 ? rest : rest.slice(0, end);
  const name = onlyName(rest) ?? '*';
  const found = (places.length > 0 ? places : ['.']).map((place) => `${place}/${name}`);
  const writes: string[] = [];
  const runs: (readonly string[])[] = [];
  let isDelete = rest.includes('-delete');
  for (let at = Math.max(end, 0); at < rest.length; at++) {
    const word = rest[at] as string;
    if (WRITES.has(word)) writes.push(rest[at + 1] ?? '');
    if (!RUNS.has(word)) continue;
    if (deletes.has(nameOf(rest[at + 1]))) isDelete = true;
    if (runs.length >= MAX_RUNS) continue;
    const command = commandAt(rest, at + 1);
    at += command.length;
    runs.push(filled(command, found));
  }
  return { deletes: isDelete ? found : [], writes, runs };
}

function commandAt(rest: readonly string[], from: number): readonly string[] {
  const end = rest.findIndex((word, at) => at >= from && ENDS.has(word));
  return rest.slice(from, end < 0 ? undefined : end);
}

/** The command that `-exec` runs, with the files in the first place of `{}`. */
function filled(command: readonly string[], found: readonly string[]): readonly string[] {
  const at = command.indexOf('{}');
  if (at < 0) return command;
  return [...command.slice(0, at), ...found, ...command.slice(at + 1)];
}

/** The pattern of the names that `find` is bound to; none where it may find others, too. */
function onlyName(rest: readonly string[]): string | undefined {
  const at = rest.findIndex((word) => word === '-name' || word === '-iname');
  const name = at < 0 ? undefined : rest[at + 1];
  if (name === undefined || !/^[\w.*-]*[a-z0-9]{2}[\w.*-]*$/i.test(name)) return undefined;
  return rest.some((word) => /^(?:-o|-or|-not|!|,)$/.test(word)) ? undefined : name;
}
