/** Changes of what runs in the namespaces of a cluster of Kubernetes that are the cluster's own. */
import { escalates, type ReachCall, type WholeReach } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

type Member = Readonly<Record<string, unknown>>;

export const CHANGES_CLUSTER = escalates(
  'config_path',
  'the call changes a namespace of the cluster itself (kube-system)',
);

export const OWN_NAMESPACES = wordSet('kube-system kube-public kube-node-lease');
const PROGRAMS = wordSet('kubectl oc helm');
const KUBERNETES = wordSet('kubectl kubernetes kube oc openshift');
/** Words of tools that hand objects to a cluster, as far as these are manifests. */
const OF_OBJECTS = wordSet('manifest manifests resource resources yaml cluster');
const OF_FILES = wordSet('file files editor filesystem document page');
/** Verbs that set what an object is. */
const VERBS = wordSet('apply create replace patch edit set update upsert');
/** Verbs that change or restart what runs. */
const CHANGES = wordSet(
  'apply create replace patch edit set update upsert delete remove destroy restart scale autoscale undo rollback pause resume evict drain cleanup label annotate taint expose run install upgrade uninstall terminate kill redeploy',
);
/** Words of tools that may only ask: `run_query`. */
const MAY_ASK = wordSet('run label expose');
/** Verbs of kubectl whose next word says what is done. */
const OF_TWO = wordSet('rollout');
/** Words of tools that only look at a manifest. */
const LOOKS = wordSet('validate lint diff check template render explain describe get list score');

/** Whether a tool hands manifests to a cluster, as the words of its name say. */
export function isOfCluster(words: readonly string[]): boolean {
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  if (has(OF_FILES) || (has(LOOKS) && !has(VERBS))) return false;
  // `k8s`: digits are no words.
  const isNamed =
    has(KUBERNETES) || words.some((word, at) => word === 'k' && words[at + 1] === 's');
  return isNamed || words.join(' ') === 'apply' || (has(OF_OBJECTS) && has(VERBS));
}

/**
 * What an object among the arguments changes there that is a manifest, or has one in a text. For a
 * tool that is of a cluster.
 *
 * @param args of the call
 */
export function findClusterReach(record: Member, args: Member): WholeReach | undefined {
  if (isDry(args.dryRun) || isDry(args.dry_run)) return undefined;
  const isOwn = isOwnManifest(record) || Object.values(record).some(isOwnText);
  return isOwn ? CHANGES_CLUSTER : undefined;
}

/**
 * What the arguments of a call change there that name such a namespace, whatever the tool is called.
 *
 * @param words of the tool's name
 */
export function findNamespaceReach(
  words: readonly string[],
  { args, action }: Pick<ReachCall, 'args' | 'action'>,
): WholeReach | undefined {
  if (!isOwnNamespace(args.namespace ?? args.ns) || isDry(args.dryRun) || isDry(args.dry_run)) {
    return undefined;
  }
  if (words.some((word) => OF_FILES.has(word))) return undefined;
  return action === 'delete' || asksForChange(words, args) ? CHANGES_CLUSTER : undefined;
}

const isOwnNamespace = (value: unknown): boolean =>
  typeof value === 'string' && OWN_NAMESPACES.has(value);

const isDry = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== 'none' && value !== 'false';

const OPERATIONS = ['command', 'operation', 'action', 'verb', 'subcommand', 'subCommand'];

const isOwnText = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((one) => typeof one === 'string' && hasOwnManifest(one))
    : typeof value === 'string' && hasOwnManifest(value);

function asksForChange(words: readonly string[], args: Member): boolean {
  const asked = OPERATIONS.map((key) => args[key]).find((one) => typeof one === 'string');
  const said = asked?.toLowerCase().split(/\s/, 2) ?? [];
  return (
    words.some((word) => CHANGES.has(word) && !MAY_ASK.has(word)) ||
    said.some((word) => CHANGES.has(word))
  );
}

function isOwnManifest({ metadata, kind }: Member): boolean {
  if (typeof metadata !== 'object' || metadata === null || typeof kind !== 'string') return false;
  const { namespace, name } = metadata as Member;
  return isOwnNamespace(namespace) || (kind === 'Namespace' && isOwnNamespace(name));
}

/** Without one of these words a text is not looked at. */
const MAY = /\bkube-(?:system|public|node-lease)\b/;
const IS_MANIFEST = /^[ \t-]{0,99}["']?(?:apiVersion|kind|metadata)["']?[ \t]{0,9}:/m;
const METADATA = /^([ \t-]{0,200})["']?metadata["']?[ \t]{0,9}:[ \t]{0,99}(.{0,2000})/;
const NAMESPACE =
  /(?:^|[\s{,])["']?namespace["']?[ \t]{0,9}:[ \t]{0,9}(?:[!&][^\s]{1,99}[ \t]{1,9})?["']?kube-(?:system|public|node-lease)(?![\w-])/;
const NAMES_IT =
  /(?:^|[\s{,])["']?name["']?[ \t]{0,9}:[ \t]{0,9}["']?kube-(?:system|public|node-lease)(?![\w-])/;
const IS_NAMESPACE =
  /^[ \t-]{0,99}["']?kind["']?[ \t]{0,9}:[ \t]{0,9}["']?Namespace["']?[ \t\r]*$/m;

/** Whether a text in YAML is such a manifest: of a namespace, only what `metadata` says counts. */
function hasOwnManifest(text: string): boolean {
  if (!MAY.test(text) || !IS_MANIFEST.test(text)) return false;
  const isNamespace = IS_NAMESPACE.test(text);
  /** How far the key `metadata` stands from the margin; -1 outside of it. */
  let indent = -1;
  for (const line of text.split('\n')) {
    const [, before, rest] = METADATA.exec(line) ?? [];
    let own = line;
    if (before !== undefined) {
      indent = before.length;
      own = rest ?? '';
    } else if (/\S/.test(line) && line.length - line.trimStart().length <= indent) indent = -1;
    if (indent < 0) continue;
    if (NAMESPACE.test(own) || (isNamespace && NAMES_IT.test(own))) return true;
  }
  return false;
}

const NAMED = /^(?:-n|--namespace)=?(.*)$/;

/**
 * What a command of kubectl changes there.
 *
 * @param rest the words after the program
 * @param texts that it reads
 */
export function findClusterCommand(
  name: string,
  rest: readonly string[],
  texts: readonly string[],
): WholeReach | undefined {
  if (!PROGRAMS.has(name) || !rest.some((word) => CHANGES.has(word))) return undefined;
  if (rest.some((word) => /^--dry-run(?:$|=(?!none))/.test(word))) return undefined;
  const isOperand = (word: string, at: number) =>
    !word.startsWith('-') && !VALUE.test(rest[at - 1] ?? '');
  const from = rest.findIndex(isOperand);
  const verb = rest[from] ?? '';
  const next = OF_TWO.has(verb) ? rest.slice(from + 1).find((word) => !word.startsWith('-')) : verb;
  if (!CHANGES.has(next ?? '')) return undefined;
  const isOwn = rest.some((word, at) => {
    const value = NAMED.exec(word)?.[1];
    return value !== undefined && OWN_NAMESPACES.has(value === '' ? (rest[at + 1] ?? '') : value);
  });
  return isOwn || (VERBS.has(verb) && texts.some(hasOwnManifest)) ? CHANGES_CLUSTER : undefined;
}

/** Options before the verb that have a value in the next word. */
const VALUE = /^(?:-[ns]|--(?:namespace|context|cluster|user|server|token|as|kubeconfig))$/;
