/** Programs that wipe a whole disk. */
import { wordSet } from './word-set.ts';

const WIPES = wordSet(
  'wipefs blkdiscard clear-disk format-volume diskutil parted sgdisk cryptsetup nvme mdadm',
);
/** Those that wipe a disk only where they are asked to. */
const WIPES_BY = new Map([
  ['wipefs', /^(?:-[a-z]*[ao]|--[ao])/],
  ['parted', /^mk(?:label|table)$/],
  ['sgdisk', /^(?:-[a-z]*[zZo]|--zap|--zap-all|--clear)$/],
  ['cryptsetup', /^(?:luks)?(?:erase|format)$/i],
  ['nvme', /^(?:format|sanitize)$/],
  ['mdadm', /^--zero-superblock$/],
]);
/** What diskutil erases a disk with. */
const ERASES = /^(?:erase|secureerase|zerodisk|randomdisk|reformat|partitiondisk)/i;

export const isDiskProgram = (name: string): boolean => WIPES.has(name);

/** @param rest the words after it, and those that are no options */
export function wipesDisk(
  name: string,
  rest: readonly string[],
  [first = '']: readonly string[],
): boolean {
  if (asksForHelp(rest)) return false;
  // Otherwise it lists what is there.
  const asked = WIPES_BY.get(name);
  if (asked) return rest.some((word) => asked.test(word));
  if (name === 'diskutil') return ERASES.test(first);
  // Of Windows: elsewhere such a program formats texts.
  if (name === 'format') return /^[a-z]:[\\/]?$/i.test(first);
  return name.startsWith('mkfs') || WIPES.has(name);
}

const HELP = /^(?:-h|-V|--help|--version)$/;

/** Whether nothing is given but that: with a device, `mkfs -V` makes a file system. */
const asksForHelp = (rest: readonly string[]): boolean =>
  rest.length > 0 && rest.every((word) => HELP.test(word));
