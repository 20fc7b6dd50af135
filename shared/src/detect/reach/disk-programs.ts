/** Programs that wipe a whole disk. */
import { readPathForms } from './path-forms.ts';
import type { TouchedPath } from './reach-finding.ts';
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

/** A script for diskpart, in PowerShell's form: `"select disk 2`nclean" | diskpart`. */
export const WIPES_BY_SCRIPT =
  /(?:`n|\n|^|["'])[ \t]{0,9}(?:clean|format|delete (?:disk|volume|partition))\b[^|]{0,400}["']\)?[ \t]{0,9}\|[ \t]{0,9}diskpart\b/i;

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

type WrittenPath = Pick<TouchedPath, 'text' | 'use' | 'isMoved'>;

/** Devices that keep nothing, and files in memory. */
export const STREAM = /^\/dev\/(?:null|zero|full|tty|stdout|stderr|fd\/\d+|shm\/[\w-][\w.-]*)$/;
const DISK = /^(?:r?disk|[shv]d[a-z*?]|xvd[a-z*?]|nvme|mmcblk|mapper$|dm-|md[0-9])/;

/** Whether the device of a disk is written to, or of a part of one. */
export function overwritesDisk({ text, use, isMoved }: WrittenPath): boolean {
  if (use !== 'write' || isMoved || !/dev/i.test(text)) return false;
  return readPathForms(text).some(
    ({ from, segments: [first, second = ''] }) =>
      from === 'root' && first === 'dev' && DISK.test(second),
  );
}
