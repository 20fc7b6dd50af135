/** The folder that a command line changes to, in which its next commands run. */
import type { TouchedPath } from '../reach-finding.ts';

const MAX_FOLDER = 200;

/** The folder that a command changes to, where its place is known. */
export function changedFolder([program, place = '', ...more]: readonly string[]):
  | string
  | undefined {
  if (program !== 'cd' && program !== 'pushd') return undefined;
  // Each path in it is read with it.
  const isPlace = /^[/~]/.test(place) && place.length <= MAX_FOLDER;
  return isPlace && more.length === 0 ? place : undefined;
}

/** Puts the paths from a place of a list on into a folder. */
export function inFolder<Path extends Pick<TouchedPath, 'base'>>(
  paths: Path[],
  from: number,
  base: string,
): void {
  for (let at = from; at < paths.length; at++) {
    const path = paths[at] as Path;
    paths[at] = { ...path, base: path.base ?? base };
  }
}
