/** Files and folders that programs write where one of their options or operands says so. */

import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';

interface Options {
  /** Options of one letter whose value is written; it may follow without a blank. */
  readonly letters: string;
  /** Long options whose value is written. */
  readonly long: readonly string[];
}

const curl: Options = { letters: 'o', long: ['--output', '--output-dir'] };
const wget: Options = {
  letters: 'OPo',
  long: ['--output-document', '--directory-prefix', '--output-file'],
};
const patch: Options = { letters: 'do', long: ['--directory', '--output'] };
const tar: Options = { letters: 'C', long: ['--directory'] };
const OPTIONS = new Map<string, Options>([
  ['curl', curl],
  ['wget', wget],
  ['tar', tar],
  ['bsdtar', tar],
  ['unzip', { letters: 'd', long: [] }],
  ['patch', patch],
  ['ssh-keygen', { letters: 'f', long: [] }],
  ['sort', { letters: 'o', long: ['--output'] }],
  ['gpg', { letters: 'o', long: ['--output'] }],
  ['gpg2', { letters: 'o', long: ['--output'] }],
  ['openssl', { letters: '', long: ['-out', '-keyout'] }],
  ['aria2c', { letters: 'do', long: ['--dir', '--out'] }],
]);

/** Programs that change the files among their operands; some only with `-i`. */
const EDITORS = wordSet('ed ex patch');
const OTHERS = wordSet('git crontab visudo systemctl ssh-copy-id');
const IN_PLACE = wordSet('perl ruby');

/** Programs of one command line that are looked at, behind `sudo` and the like. */
const MAX_PROGRAMS = 8;

/**
 * What the words of a command write.
 *
 * @param isWrapped whether the program may stand behind others
 */
export function findWrites(words: readonly string[], isWrapped: boolean): string[] {
  const found: string[] = [];
  let left = isWrapped ? MAX_PROGRAMS : 1;
  for (let at = 0; at < words.length && left > 0; at++) {
    const name = nameOf(words[at]);
    const isOne = OTHERS.has(name) || OPTIONS.has(name) || EDITORS.has(name) || IN_PLACE.has(name);
    if (isOne) {
      left--;
      found.push(...writesOf(name, words.slice(at + 1)));
    }
    if (!isWrapped) break;
  }
  return found;
}

function writesOf(name: string, rest: readonly string[]): readonly string[] {
  const operands = rest.filter((word) => !word.startsWith('-'));
  if (name === 'git') return clonedTo(operands);
  if (name === 'crontab') return crontabOf(rest);
  if (name === 'visudo') return rest.some((word) => ASKS.test(word)) ? [] : sudoersOf(rest);
  if (name === 'ssh-copy-id') return rest.some((word) => ASKS.test(word)) ? [] : [KEYS];
  if (name === 'systemctl') return unitsOf(operands);
  if (IN_PLACE.has(name)) return rest.some((word) => /^-[a-z]*i/.test(word)) ? operands : [];
  const edited = EDITORS.has(name) ? operands.slice(0, name === 'patch' ? 1 : undefined) : [];
  const options = OPTIONS.get(name);
  if (options === undefined || !isWriting(name, rest)) return edited;
  return [...edited, ...valuesOf(rest, options)];
}

/** The folder of `git clone URL FOLDER`. */
function clonedTo(operands: readonly string[]): readonly string[] {
  const at = operands.indexOf('clone');
  // Options of git itself may have values before it.
  const isClone = at >= 0 && at <= 2;
  return isClone && operands.length > at + 2 ? operands.slice(-1) : [];
}

const ASKS = /^(?:-[a-zA-Z]*[chnV]|--(?:check|help|version))$/;
/** Of whoever a key is copied to. */
const KEYS = '~/.ssh/authorized_keys';

function sudoersOf(rest: readonly string[]): readonly string[] {
  const at = rest.findIndex((word) => /^(?:-f|--file)$/.test(word));
  return [(at >= 0 && rest[at + 1]) || '/etc/sudoers'];
}

/** The units that systemctl edits. */
function unitsOf([verb, ...units]: readonly string[]): readonly string[] {
  return verb === 'edit' ? units.map((unit) => `/etc/systemd/system/${unit}`) : [];
}

/** Options of crontab with which it only lists, or asks somebody at a screen. */
const LISTS_JOBS = /^(?:-[leVhT]|--help|--version)$/;

/** The jobs of a user, which crontab replaces by a file or by what it reads. */
function crontabOf(rest: readonly string[]): readonly string[] {
  if (rest.some((word) => LISTS_JOBS.test(word))) return [];
  const at = rest.findIndex((word) => word.startsWith('-u'));
  const given = rest[at] === '-u' ? rest[at + 1] : rest[at]?.slice(2);
  const user = given || 'user';
  return [`/var/spool/cron/${user}`, `/var/spool/cron/crontabs/${user}`];
}

/** Letters of ssh-keygen with which its file is only read: `-lf`, `-y -f`. */
const READS_KEY = /^-[a-zA-Z]*[lyFBeiDL]/;
/** How tar is asked to extract. */
const EXTRACTS = /^(?:-?[a-zA-Z]*x[a-zA-Z]*|--extract|--get)$/;

function isWriting(name: string, rest: readonly string[]): boolean {
  if (name === 'ssh-keygen') return !rest.some((word) => READS_KEY.test(word));
  if (!name.endsWith('tar')) return true;
  return rest.some((word, at) => EXTRACTS.test(word) && (at === 0 || word.startsWith('-')));
}

function valuesOf(words: readonly string[], { letters, long }: Options): string[] {
  const found: string[] = [];
  for (const [at, word] of words.entries()) {
    if (!word.startsWith('-')) continue;
    const isLong = word.startsWith('--') || long.includes(word);
    const value = isLong ? longValue(word, long) : letterValue(word, letters);
    if (value !== undefined) found.push(value === '' ? (words[at + 1] ?? '') : value);
  }
  return found;
}

/** @returns empty where the next word is the value; undefined for another option */
function longValue(word: string, names: readonly string[]): string | undefined {
  const at = word.indexOf('=');
  if (!names.includes(at < 0 ? word : word.slice(0, at))) return undefined;
  return at < 0 ? '' : word.slice(at + 1);
}

/** Letters may be combined: `-sSLo file`. */
function letterValue(word: string, letters: string): string | undefined {
  for (let at = 1; at < word.length && /[a-zA-Z]/.test(word[at] as string); at++) {
    if (letters.includes(word[at] as string)) return word.slice(at + 1);
  }
  return undefined;
}
