/** Programs that wipe a whole disk. */
import { readPathForms } from '../path-forms.ts';
import type { TouchedPath } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';

const WIPES = wordSet(
  'wipefs blkdiscard clear-disk format-volume diskutil parted sgdisk cryptsetup nvme mdadm hdparm sfdisk',
);
/** Those that wipe a disk only where they are asked to. */
const WIPES_BY = new Map([
  ['wipefs', /^(?:-[a-z]*[ao]|--[ao])/],
  ['parted', /^mk(?:label|table)$/],
  ['sgdisk', /^(?:-[a-z]*[zZo]|--zap|--zap-all|--clear)$/],
  ['cryptsetup', /^(?:luks)?(?:erase|format)$/i],
  ['nvme', /^(?:format|sanitize)$/],
  ['mdadm', /^--zero-superblock$/],
  ['sfdisk', /^--(?:delete|wipe(?:=always)?)$/],
  ['hdparm', /^--(?:security-erase(?:-enhanced)?|trim-sector-ranges|make-bad-sector)$/],
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
  if (asksForHelp(rest) || isTrial(name, rest)) return false;
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

/** Options that only show what would be done; elsewhere `-n` is the name of a volume. */
const TRIALS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:mke2fs|mkfs|mkfs\.ext[234])$/, /^-[cDFjqSvV]*n/],
  [/^(?:mkntfs|mkfs\.ntfs)$/, /^(?:-[fFIQqTvU]*n|--no-action)$/],
  [/^mkfs\.xfs$/, /^-[fKqV]*N/],
  [/^wipefs$/, /^(?:-[abfpqi]*n[abfpqi]*|--no-act)$/],
  [/^sgdisk$/, /^(?:-P|--pretend)$/],
  [/^sfdisk$/, /^(?:-[fqw]*n|--no-act)$/],
  [/^nvme$/, /^--dry-run$/],
];
/** Options whose value is the next word: `-L -n` makes a file system with that label. */
const VALUE = /^-[A-Za-z]*[bCdeEgGiIJlLmMNoOprsStTUz]$/;

/** Whether such a program is asked to change nothing. */
function isTrial(name: string, rest: readonly string[]): boolean {
  const type = name === 'mkfs' ? typeOf(rest) : undefined;
  const program = type === undefined ? name : `mkfs.${type}`;
  const option = TRIALS.find(([of]) => of.test(program))?.[1];
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  return own.some((word, at) => option?.test(word) && !VALUE.test(own[at - 1] ?? ''));
}

/** The kind of file system that `mkfs` is to make. */
function typeOf(rest: readonly string[]): string | undefined {
  const at = rest.findIndex((word) => /^(?:-t|--type)/.test(word));
  const word = rest[at] ?? '';
  return at < 0 ? undefined : word.replace(/^(?:-t|--type)=?/, '') || rest[at + 1];
}

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
