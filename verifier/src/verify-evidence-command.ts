/**
 * The command `verify`: verifies evidence packages, or the volumes of one, by streaming, and prints
 * the report. Proven by verify-evidence-command.test.ts.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KEPT_LOG_FORMAT } from '@governance/shared/evidence/kept-log';
import { TRUST_ANCHOR_FORMAT } from '@governance/shared/evidence/trust-anchor';
import { reportText, setText } from './report-text.ts';
import { parseIssuers, parseTrustAnchor } from './trust.ts';
import { KEPT_EXIT_CODES, keptLogText, verifyKeptLog } from './verify-kept-log.ts';
import { COMMAND_LIMITS } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

const USAGE = `verify <evidence.tar.gz>... [options]

Verifies an evidence package. Several files are the volumes of one export, in order.

  --trust-anchor <file>  the anchor that the issuing tenant gave you: only its keys and the state of
                         the log that it pins are trusted. Without one the verdict is INCONCLUSIVE,
                         unless --issuers knows the issuer
  --issuers <file>       a JSON array of anchors and keysets of issuers that you trust
  --kept <file>          instead of packages: what a data plane kept of the log
  --json                 print the result as JSON

Exit codes: 0 VERIFIED; 1 NOT_VERIFIED; 2 UNREADABLE, or the options cannot be read;
3 INCONCLUSIVE. With --kept: 0 CONSISTENT; 1 CONTRADICTED or NOT_VERIFIED; 3 UNDECIDED.`;

const EXIT_CODES = { VERIFIED: 0, NOT_VERIFIED: 1, UNREADABLE: 2, INCONCLUSIVE: 3 } as const;

/** The command's outputs. */
export interface CommandOutput {
  write(text: string): void;
  writeError(text: string): void;
}

/**
 * Runs the command.
 *
 * @param args after the program's name
 * @returns the exit code, as `--help` explains them
 */
export async function runVerifyEvidence(args: string[], output: CommandOutput): Promise<number> {
  try {
    return await verify(args, output);
  } catch (error) {
    output.writeError(`${describe(error)}\n`);
    return 2;
  }
}

const UNREAD: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return `${error.message.split('. To specify')[0]}; --help lists the options.`;
  }
  return UNREAD[code] ? `${path ?? 'the file'} cannot be read: ${UNREAD[code]}.` : error.message;
}

async function verify(args: string[], { write }: CommandOutput): Promise<number> {
  const { values, positionals: paths } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'trust-anchor': { type: 'string' },
      issuers: { type: 'string' },
      kept: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    write(`${USAGE}\n`);
    return 0;
  }
  if (values.kept !== undefined) {
    if (paths.length > 0) throw new Error('--kept takes no packages beside it');
    return verifyKept(values.kept, values['trust-anchor'], values.json, write);
  }
  if (paths.length === 0) throw new Error(`no package was given\n\n${USAGE}`);
  const anchor = readAnchor(values['trust-anchor']);
  const issuers = readWith(values.issuers, ISSUERS, parseIssuers) ?? [];
  const trust = { anchor, issuers, limits: COMMAND_LIMITS };
  const set = await verifySet(sourcesOf(paths), trust);
  const { verdict, checks, events, volumes } = set;
  const [only] = volumes;
  const isSet = volumes.length > 1 || checks.some(({ status }) => status === 'fail');
  if (values.json) {
    const shown = isSet ? { verdict, set: { checks, events }, volumes } : only;
    write(`${JSON.stringify(shown, null, 2)}\n`);
  } else {
    for (const result of volumes) write(reportText(result));
    if (isSet) write(setText(set));
  }
  return EXIT_CODES[verdict];
}

/** Each is opened once the previous one has been read. */
function* sourcesOf(paths: readonly string[]) {
  for (const path of paths) yield createReadStream(path);
}

function verifyKept(
  path: string,
  anchorPath: string | undefined,
  isJson: boolean,
  write: CommandOutput['write'],
): number {
  const anchor = readAnchor(anchorPath);
  const bytes = readFileSync(path);
  const result = readWith(path, KEPT_LOG, () => verifyKeptLog(bytes, anchor));
  if (!result) return EXIT_CODES.UNREADABLE;
  write(isJson ? `${JSON.stringify(result, null, 2)}\n` : keptLogText(result));
  return KEPT_EXIT_CODES[result.verdict];
}

const ANCHOR = `trust anchor: it is not JSON of the format ${TRUST_ANCHOR_FORMAT}`;
const ISSUERS = 'list of issuers: it is not a JSON array of anchors and keysets';
const KEPT_LOG = `kept log: it is not JSON of the format ${KEPT_LOG_FORMAT}`;

const readAnchor = (path: string | undefined) => readWith(path, ANCHOR, parseTrustAnchor) ?? null;

/** @param kind what the file should be, and what it lacks */
function readWith<T>(
  path: string | undefined,
  kind: string,
  parse: (text: string) => T,
): T | undefined {
  if (path === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  try {
    return parse(text);
  } catch (cause) {
    throw new Error(`${path} is no ${kind}.`, { cause });
  }
}
