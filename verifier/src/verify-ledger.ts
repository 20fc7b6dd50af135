/**
 * Command line: verifies a stream's records, one canonical record a line, from a file or from
 * standard input, and prints the report as JSON. Exit code 0: verified; 1: not; 2: not readable.
 *
 *   verify-ledger [events.ndjson]
 */
import { createReadStream } from 'node:fs';
import { readLines } from './read-lines.ts';
import { type StreamRecord, verifyStream } from './verify-stream.ts';

const MAX_LINE_BYTES = 1024 * 1024;

async function* recordsOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<StreamRecord> {
  for await (const bytes of readLines(input, MAX_LINE_BYTES)) yield { bytes };
}

try {
  const [path] = process.argv.slice(2);
  const input = path === undefined ? process.stdin : createReadStream(path);
  const report = await verifyStream(recordsOf(input));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.verified ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
