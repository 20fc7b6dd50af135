/** Folders of a machine that `docker run` hands to a container. */

import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';

const PROGRAMS = wordSet('docker podman nerdctl');
const RUNS = wordSet('run create');

interface Mount {
  readonly source: string;
  readonly target: string;
}

/** Of one command, at most. */
const MAX_MOUNTS = 8;
/** Names of volumes are no places of the machine. */
const IS_PLACE = /^(?:[/~.$]|[a-z]:[\\/])/i;
/** `/srv:/data:ro`, where the source may begin with a drive. */
const VOLUME = /^((?:[a-z]:[\\/])?[^:]{0,1000}):(\/[^:]{0,1000})(?::[\w,]{0,99})?$/i;

/** @param words of a command that may run a container */
export function readMounts(words: readonly string[]): readonly Mount[] {
  const found: Mount[] = [];
  if (!words.some((word) => RUNS.has(word)) || !words.some((word) => PROGRAMS.has(nameOf(word)))) {
    return found;
  }
  for (const [at, word] of words.entries()) {
    if (found.length >= MAX_MOUNTS) break;
    const before = words[at - 1];
    const isVolume = before === '-v' || before === '--volume';
    const value = isVolume || before === '--mount' ? word : (JOINED.exec(word)?.[1] ?? '');
    const mount = isVolume || !value.includes('=') ? ofVolume(value) : ofMount(value);
    if (mount && IS_PLACE.test(mount.source)) found.push(mount);
  }
  return found;
}

const JOINED = /^(?:--(?:volume|mount)=|-v(?=.))(.*)$/s;

function ofVolume(value: string): Mount | undefined {
  const [, source, target] = VOLUME.exec(value) ?? [];
  return source && target ? { source, target } : undefined;
}

/** `type=bind,source=/srv,target=/data` */
function ofMount(value: string): Mount | undefined {
  const parts = value.split(',').map((part) => part.split('='));
  const [, source] = parts.find(([key]) => key === 'source' || key === 'src') ?? [];
  const [, target] = parts.find(([key]) => key && TARGETS.includes(key)) ?? [];
  return source && target ? { source, target } : undefined;
}

const TARGETS = ['target', 'dst', 'destination'];

/** Where a path within the container is on the machine. */
export function pathOnMachine(path: string, mounts: readonly Mount[]): string | undefined {
  for (const { source, target } of mounts) {
    const folder = target.replace(/\/$/, '');
    if (path !== folder && !path.startsWith(`${folder}/`)) continue;
    return `${source}/${path.slice(folder.length)}`;
  }
  return undefined;
}
