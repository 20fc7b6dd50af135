/** What blast-radius detection says about a call. docs/blast-radius.md shows the table. */

const REACH_RULES = [
  'email_recipients',
  'delete_depth',
  'delete_wildcard',
  'delete_whole',
  'sql_without_where',
  'bulk_action',
  'config_path',
  'protected_file',
  'unreadable',
] as const;
export type ReachRule = (typeof REACH_RULES)[number];

export interface ReachFinding {
  readonly rule: ReachRule;
  readonly verdict: 'deny' | 'escalate';
  /** For the agent and the record: counts and the tenant's own settings, nothing from the call. */
  readonly message: string;
  /** A JSON Pointer into the arguments, cut to 256 characters. */
  readonly place: string;
}

/** What a command line does beyond the paths that it names. */
export type WholeReach = Omit<ReachFinding, 'place'>;

/** What a person may decide about. */
export function escalates(rule: ReachRule, message: string): WholeReach {
  return { rule, verdict: 'escalate', message };
}

/** What nobody may do. */
export function denies(rule: ReachRule, message: string): WholeReach {
  return { rule, verdict: 'deny', message };
}

/** The graver of two findings; the first where they are equal. */
export function graver(one: ReachFinding | undefined, other: ReachFinding): ReachFinding {
  return one === undefined || (one.verdict === 'escalate' && other.verdict === 'deny')
    ? other
    : one;
}

export function tooMany(things: number, threshold: number): WholeReach {
  const message = `the call changes ${things} things at once, and ${threshold} are allowed`;
  return escalates('bulk_action', message);
}

/** A call, as far as its reach is judged. Caller-controlled. */
export interface ReachCall {
  /** Of the tool. */
  readonly name: string;
  readonly action: 'read' | 'write' | 'delete' | 'execute';
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether it asks for a dry run, by an argument that its tool knows. */
  readonly isDryRun?: boolean | undefined;
}

/** What a call does with a path. */
export type PathUse = 'read' | 'write' | 'delete';

/** Something that a call does with a path, as far as its arguments show. */
export interface TouchedPath {
  readonly text: string;
  readonly use: PathUse;
  readonly place: string;
  /** For a delete: with all its contents. */
  readonly isRecursive?: boolean;
  /** Moved away: gone from here, but not lost. */
  readonly isMoved?: boolean;
  /** Not certain: once an alias is run, or if code deletes all that it lists. A person may decide. */
  readonly isLater?: boolean;
  /** Where relative paths begin. */
  readonly base?: string | undefined;
  /** Segments of its containers that are arguments of their own: owner and repository. */
  readonly containers?: number;
}
