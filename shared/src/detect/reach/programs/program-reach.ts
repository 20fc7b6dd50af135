/** Programs that remove whole stores of data, which no path on the command line names. */

import { deletesSideBranches } from '../git-branches.ts';
import { denies, escalates, type WholeReach } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';
import { CLOUD_DELETES } from './cloud-commands.ts';
import { containerCommandAt } from './wrapped-command.ts';

export const WIPES_A_DISK = denies('delete_whole', 'the call wipes a disk');

export const DELETES_LISTED = escalates(
  'unreadable',
  'the call deletes what another command lists',
);

interface WholeCommand {
  readonly program: string;
  /** Words that follow it in this order, possibly with others in between. */
  readonly words: readonly string[];
  /** Required in addition, at least one of these; without any, the words alone suffice. */
  readonly options: readonly string[];
  readonly message: string;
}

/** Options that make a command do nothing. */
const HARMLESS = /^--dry-?run(?:$|=(?!none))/;

const whole = (line: string, message: string, ...options: string[]): WholeCommand => {
  const [program = '', ...words] = line.split(' ');
  return { program, words, options, message: `the call ${message}` };
};

const DELETES_BRANCH = 'deletes a branch whose commits are nowhere else';
const DELETES_REMOTE_BRANCH = 'deletes a branch of a git server';
const OF_BRANCH = new Set([DELETES_BRANCH, DELETES_REMOTE_BRANCH].map((one) => `the call ${one}`));

/** Options that count only together are joined by `&`. */
const FORCED_DELETES = ['--delete&--force', '--delete&-f', '-d&--force', '-d&-f'];

const COMMANDS: readonly WholeCommand[] = [
  whole('git clean', 'deletes all files that git does not know', '-f', '--force'),
  whole('git reset', 'discards all changes that git has not committed', '--hard', '--merge'),
  whole('git checkout', 'discards all changes that git has not committed', '-f', '--force', '.'),
  whole('git restore', 'discards all changes that git has not committed', '.', ':/'),
  whole('git push', 'replaces the history of a git server', '-f', '--force', '--mirror', '--prune'),
  whole('git push', 'replaces the history of a git server', '+'),
  whole('git push', DELETES_REMOTE_BRANCH, '--delete', '-d', ':'),
  whole('git branch', DELETES_BRANCH, '-D', ...FORCED_DELETES),
  whole('git branch delete', DELETES_BRANCH, '--force', '-f'),
  whole('git filter-branch', 'rewrites the history of a repository'),
  whole('git filter-repo', 'rewrites the history of a repository'),
  whole('git-filter-repo', 'rewrites the history of a repository'),
  whole('git rm', 'deletes all files of a repository', '.&-r', '=*&-r'),
  whole(
    'git reflog expire',
    'deletes commits that no branch has',
    '--all',
    '--expire=now',
    '--expire-unreachable=now',
  ),
  whole('git stash clear', 'deletes all stashes of git'),
  whole('kubectl delete', 'deletes all objects of a kind', '--all', '-A', '--all-namespaces'),
  whole('kubectl delete', 'deletes everything that a configuration made', '-k', '--kustomize'),
  whole('flux delete', 'deletes all objects of a kind', '--all'),
  whole('istioctl uninstall', 'removes everything that was installed', '--purge'),
  whole('kind delete clusters', 'deletes all clusters', '--all'),
  whole('k3d cluster delete', 'deletes all clusters', '--all', '-a'),
  whole('minikube delete', 'deletes all clusters', '--all'),
  whole('multipass delete', 'deletes all machines', '--all'),
  whole('virsh undefine', 'deletes a whole volume', '--remove-all-storage', '--storage'),
  whole('mongorestore', 'replaces what is in a database', '--drop'),
  whole('schtasks', 'removes all jobs of a machine', '*&/delete'),
  whole('azcopy rm', 'deletes all objects under a prefix', '--recursive'),
  whole('kubectl delete namespace', 'deletes a whole namespace'),
  whole('kubectl delete namespaces', 'deletes a whole namespace'),
  whole('kubectl delete ns', 'deletes a whole namespace'),
  whole('kubectl scale', 'stops all objects of a kind', '--all'),
  whole('kubectl taint nodes', 'removes everything from all nodes', '--all'),
  whole('kubectl drain', 'removes everything from a node'),
  whole('helm uninstall', 'removes everything that a chart installed'),
  whole('helm delete', 'removes everything that a chart installed'),
  whole('aws s3 rm', 'deletes all objects under a prefix', '--recursive'),
  whole('aws s3 rb', 'deletes a bucket'),
  whole('aws s3 sync', 'deletes what its source does not have', '--delete'),
  whole('gsutil rm', 'deletes all objects under a prefix', '-r', '-R', '-a', '*'),
  whole('gcloud storage rm', 'deletes all objects under a prefix', '-r', '-R', '--recursive', '*'),
  whole('gcloud projects delete', 'deletes a whole project'),
  whole('az group delete', 'deletes a whole group of resources'),
  whole('az storage blob delete-batch', 'deletes all objects of a container'),
  whole('rclone purge', 'deletes everything under a path'),
  whole('rclone delete', 'deletes everything under a path'),
  whole('terraform destroy', 'destroys everything that a configuration made'),
  whole(
    'terraform apply',
    'destroys everything that a configuration made',
    '-destroy',
    '--destroy',
  ),
  whole('terraform workspace delete', 'forgets what a configuration made', '-force'),
  whole('pulumi stack rm', 'forgets what a configuration made', '--force', '-f'),
  whole('tofu destroy', 'destroys everything that a configuration made'),
  whole('pulumi destroy', 'destroys everything that a configuration made'),
  whole('docker system prune', 'deletes everything that no container uses'),
  whole('docker volume prune', 'deletes all volumes that no container uses'),
  whole('docker volume rm', 'deletes a whole volume'),
  whole('docker compose down', 'deletes the volumes of a project', '-v', '--volumes'),
  whole('docker-compose down', 'deletes the volumes of a project', '-v', '--volumes'),
  whole('prisma db push', 'removes a whole database', '--force-reset'),
  whole('mc rm', 'deletes all objects under a prefix', '--recursive', '-r'),
  whole('s3cmd del', 'deletes all objects under a prefix', '--recursive', '-r'),
  whole('azcopy remove', 'deletes all objects under a prefix', '--recursive'),
  whole('etcdctl del', 'deletes all keys under a prefix', '--prefix', '--from-key'),
  whole('consul kv delete', 'deletes all keys under a prefix', '-recurse'),
  whole('git update-ref', DELETES_BRANCH, '-d', '--stdin'),
  whole('dropdb', 'removes a whole database'),
  whole('pg_restore', 'replaces what is in a database', '--clean'),
  whole('supabase db reset', 'removes a whole database', '--linked', '--db-url'),
  whole('npm unpublish', 'removes a package for all who use it'),
  whole('zfs rollback', 'discards all changes since a snapshot', '-r', '-R'),
  whole('wevtutil', 'empties a log', 'cl', 'clear-log'),
  whole('reg delete', 'deletes a key of the registry with all below it'),
  whole('diskpart', 'changes disks by a script', '/s'),
  whole('knex migrate:rollback', 'removes a whole database', '--all'),
  whole('gh repo delete', 'deletes a whole repository'),
  whole('argo delete', 'deletes all objects of a kind', '--all'),
  whole('ldapdelete', 'deletes everything below an entry of a directory', '-r'),
  whole('kafka-topics', 'deletes topics with all that is in them', '--delete'),
  whole('kafka-topics.sh', 'deletes topics with all that is in them', '--delete'),
  whole('crontab', 'removes all jobs of a user', '-r'),
  ...CLOUD_DELETES.map((line) => whole(line, 'deletes a whole store of data')),
];

const PROGRAMS = new Map<string, WholeCommand[]>();
for (const command of COMMANDS) {
  PROGRAMS.set(command.program, [...(PROGRAMS.get(command.program) ?? []), command]);
}

// It takes the same commands.
PROGRAMS.set('podman', [...(PROGRAMS.get('docker') ?? []), ...(PROGRAMS.get('podman') ?? [])]);
PROGRAMS.set('nerdctl', PROGRAMS.get('docker') ?? []);

/** Whether a program is one of those. */
export function isWholeProgram(name: string): boolean {
  return PROGRAMS.has(name);
}

/**
 * What a program does as a whole.
 *
 * @param name of the program, without its folder, in lower case
 * @param words after it, unchanged
 */
export function findWholeReach(name: string, words: readonly string[]): WholeReach | undefined {
  const commands = PROGRAMS.get(name);
  if (commands === undefined || words.some((word) => HARMLESS.test(word))) return undefined;
  if (name.startsWith('git') && words.some(isHarmlessForGit)) return undefined;
  const operands = words
    .filter((word) => !word.startsWith('-'))
    .flatMap((word) => (KIND_AND_NAME.test(word) && name === 'kubectl' ? word.split('/') : [word]));
  if (name === 'reg' && words.some((word) => /^\/v[ae]?$/i.test(word))) return undefined;
  const spellings = name === 'git' ? [operands] : [operands, withoutValues(words)];
  const found = commands.find(
    (command) =>
      spellings.some((one) => beginsWith(one, command, name)) && hasOption(words, command.options),
  );
  if (found === undefined || (OF_BRANCH.has(found.message) && deletesSideBranches(words))) {
    return undefined;
  }
  return escalates('delete_whole', found.message);
}

/** Options whose value may stand among the words of a command: `docker compose -p shop down`. */
const VALUED =
  /^(?:-[pn]|--(?:project-name|file|namespace|profile|context|region|project|resource-group|subscription|env-file|project-directory|kubeconfig|cluster|org|app|host|user))$/;

const withoutValues = (words: readonly string[]): readonly string[] => {
  const isCompose = words.includes('compose');
  return words.filter((word, at) => {
    const before = words[at - 1] ?? '';
    return !word.startsWith('-') && !VALUED.test(before) && !(isCompose && before === '-f');
  });
};

/** Programs of which a tool may take the words alone. */
const IMPLIED = ['git', 'gh', 'kubectl', 'docker', 'terraform', 'aws', 'gcloud', 'az'];

/** What words do whose program only a server knows: `repo delete acme/web`. */
export function findImpliedReach(words: readonly string[]): WholeReach | undefined {
  for (const program of IMPLIED) {
    const found = findWholeReach(program, words);
    const begins = PROGRAMS.get(program)?.some(
      ({ words: [first], words: all, options, message }) =>
        first === words[0] && message === found?.message && all.length + options.length > 1,
    );
    if (found && begins) return found;
  }
  return undefined;
}

/** Of kubectl: `namespace/prod`. */
const KIND_AND_NAME = /^[a-z]{2,60}\/[a-z0-9.-]{1,253}(?<!\.ya?ml|\.json)$/;

const REMOVED_KINDS = wordSet('container image volume network');

/**
 * What `docker rm` names, and its like for images, volumes and networks. Nothing is named where
 * another command lists it, in `$(…)` or through a pipe.
 *
 * @param words after the program
 * @returns undefined for another command
 */
export function findRemoved(words: readonly string[]): readonly string[] | undefined {
  const operands = words
    .slice(containerCommandAt(words, -1))
    .filter((word) => word !== '' && !word.startsWith('-'));
  if (REMOVED_KINDS.has(operands[0] ?? '')) operands.shift();
  const [verb, ...things] = operands;
  return (verb === 'rm' || verb === 'rmi') && !words.includes('--help') ? things : undefined;
}

const isHarmlessForGit = (word: string): boolean =>
  (isLetters(word) && word.includes('n')) || word === '--analyze' || word === '--cached';

/**
 * Whether the words of a command come first. A program's own options may have values before them
 * (`git -C folder clean`, `kubectl -n name delete`), so the first word may be among the first
 * three.
 */
function beginsWith(
  operands: readonly string[],
  { words }: WholeCommand,
  program: string,
): boolean {
  const [first] = words;
  if (first === undefined) return true;
  const at = operands.indexOf(first);
  if (at < 0 || at > 2) return false;
  // After another git command it is a name or a message.
  if (program === 'git' && operands.slice(0, at).some((word) => GIT_COMMANDS.has(word))) {
    return false;
  }
  return words.every((word, index) => operands[at + index] === word);
}

const GIT_COMMANDS = wordSet(
  'add commit checkout switch branch merge log show diff grep push pull fetch tag stash rm mv restore reset',
);

function hasOption(words: readonly string[], options: readonly string[]): boolean {
  if (options.length === 0) return true;
  return options.some((option) =>
    option.split('&').every((one) => words.some((word) => isOption(word, one))),
  );
}

function isOption(word: string, option: string): boolean {
  if (word === option || word === `${option}=true`) return true;
  if (option === '--force') return word.startsWith('--force-with-lease');
  // How an operand begins: `+main` of a push.
  if (option === '+' || option === ':') return word.startsWith(option);
  if (option === '*') return word.includes('*');
  if (option === '=*') return word === '*';
  // Letters may be combined: `-fdx`.
  const letter = option.length === 2 && option.startsWith('-') ? option[1] : undefined;
  return letter !== undefined && isLetters(word) && word.includes(letter);
}

function isLetters(word: string): boolean {
  return word.length <= 12 && /^-[a-zA-Z]+$/.test(word);
}
