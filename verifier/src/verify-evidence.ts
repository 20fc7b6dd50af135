/** The command line of verify-evidence-command.ts; see `--help` and docs/verifier.md. */
import { runVerifyEvidence } from './verify-evidence-command.ts';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runVerifyEvidence(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
