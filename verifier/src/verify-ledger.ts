/** The command line of verify-command.ts; see `--help` and docs/ledger-format.md. */
import { runVerifyLedger } from './verify-command.ts';

process.exitCode = await runVerifyLedger(process.argv.slice(2), {
  input: process.stdin,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
