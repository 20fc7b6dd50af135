/**
 * What the main thread and the ledger's thread spend CPU time on: V8's sampling profiler runs on
 * both, and each sample counts for the part of the product that was running, or that had called
 * what was running.
 */
import { readFileSync } from 'node:fs';
import { type InspectorNotification, type Profiler, Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

export interface CpuShares {
  /** Shares of the thread's CPU time by part; they add up to 1. */
  main: Record<string, number>;
  ledger: Record<string, number>;
}

/** Sampled microseconds by part. */
type Samples = Record<string, number>;

const SAMPLE_US = 500;

const OWN: [RegExp, string][] = [
  [/data-plane\/src\/ledger/, 'ledger: hand-over, groups, acknowledgements'],
  [/data-plane\/src\/sync/, 'shipping of records'],
  [/data-plane\/src\/enforcement\/(audit|outcome)/, 'building the records of decision and outcome'],
  [/data-plane\/src\/enforcement/, 'enforcement steps'],
  [/data-plane\/src\/(replica|identity)/, 'enforcement steps'],
  [/data-plane\/src\/gateway/, 'gateway: MCP sessions, JSON-RPC'],
  [/data-plane\/src\/upstream/, 'client of MCP servers, and undici'],
  [/data-plane\/src\/.*metrics/, 'metrics'],
  [/policies\/src/, 'policy evaluation'],
  [/shared\/src\/strict-json/, 'parsing JSON strictly'],
  [/shared\/src\/detect\/inbound/, 'looking for injections'],
  [/shared\/src\/detect\/(dlp|engine)/, 'looking for sensitive data'],
  [/shared\/src\/(canonical|hash|ledger|merkle|audit)/, 'canonical form, hash chain, batches'],
];
const PACKAGES: [RegExp, string][] = [
  [/node_modules\/undici/, 'client of MCP servers, and undici'],
  [/node_modules\/zod/, 'checking records against their schema'],
  [/node_modules\/prom-client/, 'metrics'],
  [/node_modules\//, 'fastify'],
];
const ELSE = {
  gc: 'garbage collection on this thread',
  native: 'native code outside JavaScript',
  node: 'Node: HTTP server, sockets, event loop',
  own: 'other parts of the product',
  messages: 'messages between the two threads (copying, waking)',
  statements: 'SQLite: inserts and reads',
  commit: 'SQLite: COMMIT (writing, fdatasync)',
};

/** Native functions by name: they have no file. */
const MESSAGES = new Set(['postMessage', 'receiveMessageOnPort', 'receiveMessage']);
const STATEMENTS = new Set(['run', 'get', 'all', 'iterate', 'next']);

type Post = (method: string, parameters?: object) => Promise<unknown>;

export function mainShares(samples: Samples): Record<string, number> {
  const total = Object.values(samples).reduce((sum, us) => sum + us, 0);
  return Object.fromEntries(Object.entries(samples).map(([part, us]) => [part, us / (total || 1)]));
}

/**
 * A thread that waits in fdatasync is sampled as if it computed. So COMMIT gets the rest of the
 * thread's CPU time, as the system counted it, after all other parts.
 */
export function ledgerShares(samples: Samples, cpuUs: number): Record<string, number> {
  const { [ELSE.commit]: _waiting, ...others } = samples;
  const computed = Object.values(others).reduce((sum, us) => sum + us, 0);
  return mainShares({ ...others, [ELSE.commit]: Math.max(0, cpuUs - computed) });
}

/** Samples both threads until `stop`. */
export async function startProfiles() {
  const session = new Session();
  session.connect();
  const post: Post = (method, parameters) =>
    new Promise((resolve, reject) =>
      session.post(method, parameters, (error, result) =>
        error ? reject(error) : resolve(result),
      ),
    );
  const workers = new Map<string, Post>();
  const waiting = new Map<number, (result: unknown) => void>();
  let nextId = 1;
  session.on(
    'NodeWorker.attachedToWorker',
    ({ params }: InspectorNotification<{ sessionId: string }>) => {
      const { sessionId } = params;
      workers.set(sessionId, (method, parameters) => {
        const id = nextId++;
        const message = JSON.stringify({ id, method, params: parameters });
        return new Promise((resolve, reject) => {
          // Subscribed before sending, since the answer can arrive before `post` returns.
          waiting.set(id, resolve);
          post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(reject);
        });
      });
    },
  );
  session.on(
    'NodeWorker.receivedMessageFromWorker',
    ({ params }: InspectorNotification<{ message: string }>) => {
      const { id, result } = JSON.parse(params.message) as { id: number; result: unknown };
      waiting.get(id)?.(result);
      waiting.delete(id);
    },
  );
  await post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  // The worker before it only syncs, and waits for that in the system.
  const ledger = [...workers.values()].at(-1);
  if (!ledger) throw new Error('the ledger has no thread');
  for (const one of [post, ledger]) {
    await one('Profiler.enable');
    await one('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    await one('Profiler.start');
  }
  return async function stop(): Promise<{ main: Samples; ledger: Samples }> {
    const [main, worker] = (await Promise.all([
      post('Profiler.stop'),
      ledger('Profiler.stop'),
    ])) as [Profiler.StopReturnType, Profiler.StopReturnType];
    await post('NodeWorker.disable');
    session.disconnect();
    return { main: samplesOf(main.profile), ledger: samplesOf(worker.profile) };
  };
}

function samplesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node.id);
  const known = new Map<number, string | null>();
  const root = nodes[0]?.id;

  function partOf(id: number): string | null {
    const node = byId.get(id);
    if (node === undefined) return null;
    const { functionName, url, lineNumber } = node.callFrame;
    if (functionName === '(idle)' || functionName === '(root)') return null;
    if (functionName === '(garbage collector)') return ELSE.gc;
    if (functionName === '(program)') return ELSE.native;
    if (url.startsWith('wasm:')) return partOfWasm(id);
    if (url !== '' && !url.startsWith('node:')) return partOfFile(url, lineNumber);
    const parent = parents.get(id);
    const caller = parent === undefined ? undefined : byId.get(parent)?.callFrame;
    if (MESSAGES.has(functionName)) return ELSE.messages;
    if (url === '' && STATEMENTS.has(functionName)) {
      return caller?.functionName === 'inTransaction' ? ELSE.commit : ELSE.statements;
    }
    // Node's own work is counted for its caller.
    if (parent === undefined || parent === root) return ELSE.node;
    return lookUp(parent);
  }
  /** The WebAssembly of the pattern engine and of policies is told apart by its caller. */
  function partOfWasm(id: number): string | null {
    const parent = parents.get(id);
    const part = parent === undefined || parent === root ? null : lookUp(parent);
    return part === 'looking for sensitive data' ? part : 'policy evaluation';
  }
  function lookUp(id: number): string | null {
    let part = known.get(id);
    if (part === undefined) {
      part = partOf(id);
      known.set(id, part);
    }
    return part;
  }

  const sums: Samples = {};
  samples.forEach((id, index) => {
    const part = lookUp(id);
    if (part === null) return;
    const us = Math.max(0, timeDeltas[index] ?? 0);
    sums[part] = (sums[part] ?? 0) + us;
  });
  return sums;
}

function partOfFile(url: string, line: number): string | null {
  const inPackage = PACKAGES.find(([pattern]) => pattern.test(url));
  if (inPackage) return inPackage[1];
  const source = sourceAt(url, line);
  // The bench's own work: starting and ending the profiles, and its fake control plane.
  if (source.startsWith('bench/')) return null;
  return OWN.find(([pattern]) => pattern.test(source))?.[1] ?? ELSE.own;
}

const sources = new Map<string, { line: number; path: string }[]>();

/** The source file behind a line of a bundle: esbuild names each in a comment. */
function sourceAt(url: string, line: number): string {
  let starts = sources.get(url);
  if (starts === undefined) {
    starts = readFileSync(fileURLToPath(url), 'utf8')
      .split('\n')
      .flatMap((text, at) =>
        /^\/\/ \S+\.ts$/.test(text) ? [{ line: at, path: text.slice(3) }] : [],
      );
    sources.set(url, starts);
  }
  return starts.findLast((start) => start.line <= line)?.path ?? '';
}
