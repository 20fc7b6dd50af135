/** Deletes over HTTP of everything that a name stands for: `DELETE /_all` of a search server. */
import { CHANGES_CLUSTER, OWN_NAMESPACES } from './cluster-namespace.ts';
import { escalates, type WholeReach } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

const PROGRAMS = wordSet('curl curl.exe wget http https xh gh glab');
const METHOD = /^(?:(?:-X|--request=|--method=)?DELETE)$/i;

/** Names that stand for all things of a kind. */
export const isAllName = (name: string): boolean => name === '*' || name.toLowerCase() === '_all';

/** Whether the last segment of a web address is a wildcard. */
export function isWildAddress(text: string): boolean {
  const [path = ''] = text.split(/[?#]/, 1);
  const last = path.endsWith('/') ? path.slice(0, -1) : path;
  const name = last.slice(last.lastIndexOf('/') + 1).replaceAll(/%2a/gi, '*');
  return name.includes('*') || isAllName(name.replaceAll(/%5f/gi, '_'));
}

/** Addresses of search servers that change what a query finds, and queries that find everything. */
const BY_QUERY = /\/_(?:delete|update)_by_query\b|\/solr\/[^/?#]{1,200}\/update\b/;
const MATCHES_ALL =
  /"match_all"|<query>\s{0,99}\*:\*\s{0,99}<\/query>|"query"\s{0,99}:\s{0,99}"\*:\*"/;

/** What the words of a command delete over HTTP. */
export function findWebReach(words: readonly string[]): WholeReach | undefined {
  if (words.some((word) => BY_QUERY.test(word)) && words.some((word) => MATCHES_ALL.test(word))) {
    return BY_WILDCARD;
  }
  const isRaw = words.includes('--raw') && words.includes('delete');
  if (!isRaw) {
    if (!words.some((word) => METHOD.test(word))) return undefined;
    if (!words.some((word) => PROGRAMS.has(word.slice(word.lastIndexOf('/') + 1)))) {
      return undefined;
    }
  }
  return firstOf(words.filter((word) => word.includes('/') && !/\s/.test(word)));
}

/** Arguments that hold a request's method, and where it goes. */
const METHODS = ['method', 'http_method', 'httpMethod', 'request_method', 'requestMethod', 'verb'];
const ADDRESSES = wordSet(
  'url uri path endpoint href resource route request_path requestPath relative_url relativeUrl api_path apiPath api_url apiUrl',
);
/** Arguments that hold the method where it stands apart from the address. */
const AROUND = ['options', 'init', 'config'];
/** Words of tools that make requests, and whose names may say the method. */
const CLIENTS = wordSet('http https rest request curl playwright');

type Members = Readonly<Record<string, unknown>>;

/**
 * What a call of a tool deletes that makes HTTP requests.
 *
 * @param words of its name
 */
export function findRequestReach(words: readonly string[], args: Members): WholeReach | undefined {
  if (asksByQuery(args)) return BY_WILDCARD;
  const method = methodOf(args) ?? AROUND.map((key) => methodOf(args[key])).find(Boolean);
  const isNamed = words.includes('delete') && words.some((word) => CLIENTS.has(word));
  if (method === undefined ? !isNamed : !METHOD.test(method)) return undefined;
  const addresses = Object.keys(args).filter((key) => ADDRESSES.has(key));
  return firstOf(addresses.map((key) => args[key]).filter((one) => typeof one === 'string'));
}

/** Arguments that hold what is sent. */
const BODIES = ['body', 'data', 'json', 'payload'];

function asksByQuery(args: Members): boolean {
  const isChange = Object.keys(args).some((key) => {
    const value = ADDRESSES.has(key) ? args[key] : undefined;
    return typeof value === 'string' && BY_QUERY.test(value.slice(0, MAX_ADDRESS));
  });
  if (!isChange) return false;
  return BODIES.some((key) => {
    const value = args[key];
    return typeof value === 'string' && MATCHES_ALL.test(value.slice(0, MAX_BODY));
  });
}

/** Characters of a body that are read for a query. */
const MAX_BODY = 64 * 1024;

function methodOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = METHODS.map((key) => (value as Members)[key]);
  return found.find((one) => typeof one === 'string');
}

/** The first of what the addresses name that is more than one thing. */
function firstOf(addresses: readonly string[]): WholeReach | undefined {
  for (const address of addresses) {
    const found = isWildAddress(address) ? BY_WILDCARD : findStoreAt(address);
    if (found) return found;
  }
  return undefined;
}

const BY_WILDCARD = escalates('delete_wildcard', 'the call deletes by a wildcard, over HTTP');
const OF_A_KIND = escalates('delete_wildcard', 'the call deletes all objects of a kind, over HTTP');
const A_STORE = escalates(
  'delete_whole',
  'the call deletes a whole repository, project or store of data, over HTTP',
);

/** Collections of APIs of which one item holds everything that somebody has. */
const STORES = wordSet(
  'projects project groups orgs organizations tenants workspaces spaces space zones databases clusters buckets volumes namespaces indices indexes schemas keyspaces repositories datasets stacks resourcegroups vaults mounts collections vhosts persistentvolumes persistentvolumeclaims customresourcedefinitions',
);
/** Of whom something is taken away, and not lost. */
const MEMBERS = wordSet('teams users user members installations groups');
/** What may stand before in the path of an API; otherwise it is one of files. */
const BEFORE = /^(?:v\d\w{0,9}|\d{1,2}(?:\.\d)?|apis?|rest|client|wiki|sys|storage|bigquery)$/i;
const MAX_BEFORE = 4;
const MAX_ADDRESS = 4_096;
const HOST = /^(?:https?:\/\/[^/?#]{0,300}|[\w.-]{1,200}:\d{1,5}(?=[/?#]|$))/i;
/** Servers whose topmost names are databases or indices. */
const OF_NAMES = /:(?:9200|9201|5984)$/;
/** Services of Google by whose instances everything goes. */
const OF_INSTANCES = /\/\/(?:sqladmin|spanner|bigtableadmin)\./i;
const S3 = /\/\/[^/]{0,200}\bs3\b[^/]{0,60}\.amazonaws\.com$/i;

/** What the last names of an address stand for. */
function findStoreAt(address: string): WholeReach | undefined {
  if (address.length > MAX_ADDRESS) return undefined;
  const host = HOST.exec(address)?.[0] ?? '';
  const [path = ''] = address.slice(host.length).split(/[?#]/, 1);
  const names = path.split('/').filter((name) => name !== '');
  if (names.length === 0) return S3.test(host) ? A_STORE : undefined;
  if (names.length === 1 && OF_NAMES.test(host)) {
    return names[0]?.startsWith('_') ? undefined : A_STORE;
  }
  if (changesCluster(names)) return CHANGES_CLUSTER;
  if (isOfKubernetes(names))
    return /[?&](?:label|field)Selector=/.test(address) ? undefined : OF_A_KIND;
  const isRepository = names.at(-3)?.toLowerCase() === 'repos';
  const before = names.slice(0, isRepository ? -3 : -2);
  if (before.length > MAX_BEFORE || before.some((name) => MEMBERS.has(name))) return undefined;
  const kind = names.at(-2)?.toLowerCase() ?? '';
  const isGoogles =
    (kind === 'instances' && OF_INSTANCES.test(host)) ||
    (kind === 'b' && host.endsWith('storage.googleapis.com'));
  if (!isRepository && !STORES.has(kind) && !isGoogles) return undefined;
  return host !== '' || before.every((name) => BEFORE.test(name)) ? A_STORE : undefined;
}

/** Whether names lead to an object in a namespace of the cluster itself. */
function changesCluster(names: readonly string[]): boolean {
  const root = names.lastIndexOf('namespaces');
  return root > 0 && names.length > root + 2 && OWN_NAMESPACES.has(names[root + 1] as string);
}

/** Whether names lead to all objects of a kind in a namespace: `api/v1/namespaces/a/pods`. */
function isOfKubernetes(names: readonly string[]): boolean {
  const root = names.lastIndexOf('namespaces');
  if (root < 0 || names.length !== root + 3) return false;
  return names[root - 2] === 'api' || names[root - 3] === 'apis';
}
