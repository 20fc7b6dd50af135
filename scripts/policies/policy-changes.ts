/** The changes that make a control plane's policies match those of a folder. */
import type { Content, PoliciesApi, RemotePolicy } from './policies-api.ts';
import type { FilePolicy } from './policy-folder.ts';

export type Change =
  | { kind: 'create'; content: Content }
  | { kind: 'update'; before: RemotePolicy; content: Content; fields: (keyof Content)[] };

const FIELDS = ['name', 'description', 'rego_content', 'status'] as const;

/**
 * Policies are matched by name; an archived one only if there is no other of that name.
 *
 * @param prune archives policies that the folder does not have
 */
export function findChanges(files: FilePolicy[], remote: RemotePolicy[], prune: boolean) {
  const changes: Change[] = [];
  const used = new Set<RemotePolicy>();
  for (const { name, description, rego, status } of files) {
    const content = { name, description, rego_content: rego, status };
    const before = findByName(remote, name);
    if (!before) {
      if (status !== 'archived') changes.push({ kind: 'create', content });
      continue;
    }
    used.add(before);
    const fields = FIELDS.filter((field) => before[field] !== content[field]);
    if (fields.length > 0) changes.push({ kind: 'update', before, content, fields });
  }
  const others = remote.filter((policy) => policy.status !== 'archived' && !used.has(policy));
  if (prune) changes.push(...others.map(archive));
  return { changes, others: prune ? [] : others };
}

function archive(before: RemotePolicy): Change {
  const { name, description, rego_content } = before;
  const content = { name, description, rego_content, status: 'archived' as const };
  return { kind: 'update', before, content, fields: ['status'] };
}

function findByName(remote: RemotePolicy[], name: string): RemotePolicy | undefined {
  const named = remote.filter((policy) => policy.name === name);
  return named.find(({ status }) => status !== 'archived') ?? named.at(-1);
}

/** One line, with the number of the first source line that differs. */
export function describeChange(change: Change): string {
  const { name, status } = change.content;
  if (change.kind === 'create') return `+ ${name} (${status})`;
  const { before, content, fields } = change;
  const told = fields.map((field) => {
    if (field !== 'rego_content') return `${field}: ${before[field]} -> ${content[field]}`;
    return `source differs from line ${firstDifference(before.rego_content, content.rego_content)}`;
  });
  return `~ ${name}: ${told.join('; ')}`;
}

function firstDifference(one: string, other: string): number {
  const [before, after] = [one.split('\n'), other.split('\n')];
  const at = before.findIndex((line, n) => line !== after[n]);
  return (at < 0 ? before.length : at) + 1;
}

/** @returns a description of what was done */
export async function applyChange(
  api: PoliciesApi,
  change: Change,
  needsRequests: boolean,
): Promise<string> {
  const { content } = change;
  if (change.kind === 'create') {
    if (!needsRequests || content.status !== 'active') {
      await api.create(content);
      return `created ${content.name}`;
    }
    const { id } = await api.create({ ...content, status: 'draft' });
    return propose(api, id, content);
  }
  const { before, fields } = change;
  const isAboutActive = before.status === 'active' || content.status === 'active';
  if (needsRequests && isAboutActive) return propose(api, before.id, content);
  await api.change(before.id, Object.fromEntries(fields.map((field) => [field, content[field]])));
  return `${content.status === 'archived' ? 'archived' : 'updated'} ${content.name}`;
}

/** A second run finds its own proposal and makes no new one. */
async function propose(api: PoliciesApi, id: string, content: Content): Promise<string> {
  const same = (await api.pending(id)).find(
    (request) =>
      request.proposed_name === content.name &&
      request.proposed_description === content.description &&
      request.proposed_rego_content === content.rego_content &&
      request.proposed_status === content.status,
  );
  if (same) return `change request ${same.id} for ${content.name} waits already`;
  const { id: requestId } = await api.propose(id, content, 'From the policies’ files.');
  return `proposed ${content.name}: change request ${requestId}`;
}
