/**
 * The target of a call, for `request.resource` of the policy input and `target` of the audit
 * event. A guess by the argument's name, in this order; a policy that must be sure reads
 * `request.parameters`, where every argument is.
 */
const TARGET_KEYS = [
  'path',
  'file_path',
  'filepath',
  'filePath',
  'file',
  'filename',
  'destination',
  'source',
  'directory',
  'dir',
  'uri',
  'url',
  'table',
  'table_name',
  'tableName',
  'collection',
  'bucket',
  'database',
  'recipient',
  'recipients',
  'to',
  'email',
  'channel',
  'repository',
  'repo',
  'paths',
  'files',
  'urls',
] as const;

/** Longer targets are cut: the whole arguments are hashed into the record anyway. */
const MAX_TARGET_LENGTH = 1024;

/**
 * @param args the call's arguments, caller-controlled
 * @returns the first target found, else the tool's name
 */
export function findTarget(toolName: string, args: Record<string, unknown>): string {
  for (const key of TARGET_KEYS) {
    // Only what the caller sent: an inherited property is nobody's target.
    if (!Object.hasOwn(args, key)) continue;
    const value = args[key];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string' && first !== '') return first.slice(0, MAX_TARGET_LENGTH);
  }
  return toolName;
}
