/** `npm run policies`: policies in files, for use in a repository's CI. */
import { parseArgs } from 'node:util';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { Diagnostic, RegoCompiler } from '@governance/policies/contract';
import { createPoliciesApi } from './policies-api.ts';
import { applyChange, describeChange, findChanges } from './policy-changes.ts';
import { type FilePolicy, readPolicyFolder, UsageError } from './policy-folder.ts';

export const EXIT = { ok: 0, differs: 1, failed: 2 } as const;

export const USAGE = `npm run policies -- <command> DIR [options]

  check DIR   compiles every policy, and the active ones together; offline
  test DIR    runs the _test.rego files; offline
  diff DIR    shows what is not as in the folder at a control plane
  apply DIR   shows it, and with --yes makes it so: by change requests where those are required

  --url URL       of the control plane (or GOVERNANCE_URL)
  --token TOKEN   an administrator's (or GOVERNANCE_TOKEN, which no list of processes shows)
  --prune         policies that are not in the folder are archived
  --yes           apply: does it

exit: 0 as it should be, 1 differences, failing tests or sources that do not compile,
      2 wrong usage, or the control plane cannot be reached or refuses
`;

export interface Output {
  write(line: string): void;
  writeError(line: string): void;
}

/** @returns the exit code */
export async function runPolicies(
  args: string[],
  env: NodeJS.ProcessEnv,
  out: Output,
): Promise<number> {
  try {
    const { command, folder, options } = readArguments(args, env);
    const policies = readPolicyFolder(folder);
    if (policies.length === 0) {
      throw new UsageError(
        `${folder} has no policies: put each into a file of its own that ends in .rego, its tests beside it in _test.rego`,
      );
    }
    if (command === 'check')
      return await withCompiler((compiler) => check(compiler, policies, out));
    if (command === 'test') return await withCompiler((compiler) => test(compiler, policies, out));
    return await compare(command, policies, options, out);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    out.writeError(error.message);
    return EXIT.failed;
  }
}

interface Options {
  url: string | undefined;
  token: string | undefined;
  prune: boolean;
  yes: boolean;
}

const COMMANDS = ['check', 'test', 'diff', 'apply'] as const;

function readArguments(args: string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = parse(args);
  const [name, folder, ...more] = positionals;
  const command = COMMANDS.find((one) => one === name);
  if (!command || folder === undefined || more.length > 0) throw new UsageError(USAGE);
  const options: Options = {
    url: values.url ?? env.GOVERNANCE_URL,
    token: values.token ?? env.GOVERNANCE_TOKEN,
    prune: values.prune ?? false,
    yes: values.yes ?? false,
  };
  return { command, folder, options };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        prune: { type: 'boolean' },
        yes: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

async function withCompiler(work: (compiler: RegoCompiler) => Promise<number>): Promise<number> {
  const compiler = createRegoCompiler();
  try {
    return await work(compiler);
  } finally {
    await compiler.close();
  }
}

const counted = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

const toSource = ({ id, name, rego }: FilePolicy) => ({ id, name, rego });

async function check(compiler: RegoCompiler, policies: FilePolicy[], { write }: Output) {
  const found: Diagnostic[] = [];
  for (const policy of policies) {
    const { diagnostics } = await compiler.check(toSource(policy));
    found.push(...diagnostics.map((one) => ({ ...one, policy_id: policy.id })));
  }
  const active = policies.filter(({ status }) => status === 'active');
  if (found.length === 0 && active.length > 0) {
    const together = await compiler.compile(active.map(toSource));
    if (!together.ok) found.push(...together.diagnostics);
  }
  for (const { policy_id, row, col, message, code } of found) {
    const path = policies.find(({ id }) => id === policy_id)?.path ?? 'together';
    write(`${path}:${row}:${col}: ${message} (${code})`);
  }
  write(
    found.length > 0
      ? counted(found.length, 'error')
      : `${counted(policies.length, 'policy', 'policies')} ${policies.length === 1 ? 'compiles' : 'compile'}`,
  );
  return found.length > 0 ? EXIT.differs : EXIT.ok;
}

async function test(compiler: RegoCompiler, policies: FilePolicy[], { write }: Output) {
  const counts = { pass: 0, fail: 0, error: 0, skip: 0 };
  for (const policy of policies) {
    if (policy.tests === undefined) continue;
    const tests = [{ id: policy.id, name: `${policy.name} tests`, rego: policy.tests }];
    for (const result of await compiler.test([toSource(policy)], tests)) {
      counts[result.outcome]++;
      if (result.outcome === 'pass') continue;
      const file = policy.path.replace(/\.rego$/, '_test.rego');
      const why = result.message ? `: ${result.message}` : '';
      write(`${file}:${result.row}: ${result.outcome} ${result.name}${why}`);
    }
  }
  const { pass, fail, error, skip } = counts;
  write(`${pass} passed, ${fail} failed, ${counted(error, 'error')}, ${skip} skipped`);
  return fail + error > 0 ? EXIT.differs : EXIT.ok;
}

async function compare(
  command: 'diff' | 'apply',
  policies: FilePolicy[],
  { url, token, prune, yes }: Options,
  { write }: Output,
): Promise<number> {
  if (!url || !token) throw new UsageError(`${command} needs --url and --token\n\n${USAGE}`);
  if (!URL.canParse(url)) throw new UsageError(`${url} is not a URL`);
  const api = createPoliciesApi(url, token);
  const { changes, others } = findChanges(policies, await api.list(), prune);
  for (const { name, status } of others)
    write(`  ${name} (${status}) is not in the folder: left as it is`);
  for (const change of changes) write(describeChange(change));
  if (changes.length === 0) {
    write('the same');
    return EXIT.ok;
  }
  if (command === 'diff') return EXIT.differs;
  if (!yes) {
    write('nothing was changed: use --yes to apply');
    return EXIT.differs;
  }
  const needsRequests = await api.needsChangeRequests();
  for (const change of changes) write(await applyChange(api, change, needsRequests));
  return EXIT.ok;
}
