/** The command line of verify-command.ts; see `--help` and docs/ledger-format.md. */
import { runVerifyLedger } from './verify-command.ts';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runVerifyLedger(process.argv.slice(2), {
  input: process.stdin,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
