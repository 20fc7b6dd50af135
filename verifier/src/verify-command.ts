/**
 * The command `verify-ledger`: verifies a stream's records, one canonical record a line, and prints
 * the report as JSON, with what it could not check. Proven by verify-ledger.test.ts in tests/.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import { readLines } from '@governance/shared/process/read-lines';
import { type BatchWalk, createBatchWalk, type KeptBatch, parseBatch } from './verify-batches.ts';
import { type StreamRecord, type StreamReport, verifyStream } from './verify-stream.ts';

const USAGE = `verify-ledger [records.ndjson] [options]

Verifies the records of one stream, one canonical record a line (standard input without a file).

  --head <epoch>/<seq>/<hash>    the record that must be the last one
  --start <epoch>/<seq>/<hash>   the record before the first one, of a stream without its beginning
  --batches <file>               the signed batches: {"header": …, "signature": …} a line
  --keys <file>                  the writer's Ed25519 public keys: a JWK, a JWKS or PEM
  --strict                       what could not be checked counts: exit code 3

Exit codes: 0 verified, as far as it could be checked; 1 not verified; 2 the input or the options
cannot be read; 3 (with --strict) verified, but "not_checked" is not empty.`;

const MAX_LINE_BYTES = 1024 * 1024;

async function* recordsOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<StreamRecord> {
  for await (const bytes of readLines(input, MAX_LINE_BYTES)) yield { bytes };
}

function parsePosition(name: string, text: string | undefined): ChainPosition | undefined {
  if (text === undefined) return undefined;
  const [, epoch, seq, head] = /^(\d{1,15})\/(\d{1,15})\/([0-9a-f]{64})$/.exec(text) ?? [];
  if (head === undefined) throw new Error(`--${name} is not <epoch>/<seq>/<hash>`);
  return { epoch: Number(epoch), seq: Number(seq), head };
}

async function readBatches(path: string): Promise<KeptBatch[]> {
  const batches: KeptBatch[] = [];
  let line = 0;
  for await (const bytes of readLines(createReadStream(path), MAX_LINE_BYTES)) {
    line++;
    try {
      batches.push(parseBatch(bytes.toString('utf8')));
    } catch (error) {
      throw new Error(`${path}, line ${line} is no batch`, { cause: error });
    }
  }
  return batches;
}

function readKeys(path: string): KeyObject[] {
  const text = readFileSync(path, 'utf8');
  const keys = text.trimStart().startsWith('{') ? readJwks(text) : [createPublicKey(text)];
  if (keys.length === 0 || keys.some((key) => key.asymmetricKeyType !== 'ed25519')) {
    throw new Error(`${path} contains no Ed25519 keys`);
  }
  return keys;
}

function readJwks(text: string): KeyObject[] {
  const value = JSON.parse(text) as { keys?: unknown };
  const keys = Array.isArray(value.keys) ? value.keys : [value];
  return keys.map((key) => createPublicKey({ key, format: 'jwk' }));
}

interface Given {
  head: ChainPosition | undefined;
  start: ChainPosition | undefined;
  batches: KeptBatch[] | null;
  keys: KeyObject[] | null;
}

/** What a reader must not mistake for verified. */
function findUnchecked(given: Given, report: StreamReport, walk: BatchWalk | undefined): string[] {
  const unchecked: string[] = [];
  if (!given.head) {
    const upTo = given.batches?.length ? ' behind the last batch' : '';
    unchecked.push(`no --head was given: records that were cut off at the end${upTo} do not show`);
  }
  if (given.start) {
    unchecked.push('the records before --start are not here: nothing is said about them');
  }
  if (!given.batches) {
    unchecked.push(
      'no --batches were given: records that were rewritten with all hashes behind them do not show',
    );
  } else if (!given.keys) {
    unchecked.push(
      `no --keys were given: the signatures of ${given.batches.length} batches were not checked, and whoever rewrites records can make batches`,
    );
  }
  const uncovered = walk?.uncovered();
  if (uncovered?.first) {
    const { epoch, seq } = uncovered.first;
    unchecked.push(
      `${uncovered.records} of ${report.records} records are under no batch, from ${epoch}/${seq} on: who wrote them was not checked`,
    );
  }
  return unchecked;
}

/** The command's inputs and outputs. */
export interface CommandStreams {
  input: AsyncIterable<Uint8Array>;
  write(text: string): void;
  writeError(text: string): void;
}

/**
 * Runs the command.
 *
 * @param args after the program's name
 * @returns the exit code, as `--help` explains them
 */
export async function runVerifyLedger(args: string[], streams: CommandStreams): Promise<number> {
  try {
    return await verify(args, streams);
  } catch (error) {
    streams.writeError(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

async function verify(
  args: string[],
  { input: standardInput, write }: CommandStreams,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      head: { type: 'string' },
      start: { type: 'string' },
      batches: { type: 'string' },
      keys: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    write(`${USAGE}\n`);
    return 0;
  }
  if (positionals.length > 1) throw new Error(`more than one file of records\n\n${USAGE}`);
  if (values.keys && !values.batches) throw new Error('--keys without --batches checks nothing');
  const given: Given = {
    head: parsePosition('head', values.head),
    start: parsePosition('start', values.start),
    batches: values.batches === undefined ? null : await readBatches(values.batches),
    keys: values.keys === undefined ? null : readKeys(values.keys),
  };
  const [path] = positionals;
  const input = path === undefined ? standardInput : createReadStream(path);
  const walk = given.batches ? createBatchWalk(given.batches, given.keys) : undefined;
  const { head, start } = given;
  const report = await verifyStream(recordsOf(input), { head, start, batches: walk });
  const notChecked = findUnchecked(given, report, walk);
  write(`${JSON.stringify({ ...report, not_checked: notChecked }, null, 2)}\n`);
  if (!report.verified) return 1;
  return values.strict && notChecked.length > 0 ? 3 : 0;
}
