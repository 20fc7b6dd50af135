/** `npm run connect`: connects an MCP client on this machine. See docs/connect.md. */
import { readdirSync } from 'node:fs';
import { homedir, platform } from 'node:os';
import type { Platform } from './client-files.ts';
import { connect } from './connect.ts';
import { USAGE, UsageError } from './options.ts';
import { readToken, TOKEN_VARIABLE } from './token-input.ts';

function thisPlatform(): Platform {
  const name = platform();
  return name === 'darwin' || name === 'win32' ? name : 'linux';
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const { [TOKEN_VARIABLE]: given, ...env } = process.env;
try {
  await connect(process.argv.slice(2), {
    machine: { platform: thisPlatform(), home: homedir(), env, namesIn },
    print: (text) => void process.stdout.write(text),
    readToken: () =>
      readToken({ [TOKEN_VARIABLE]: given }, process.stdin, (text) => process.stderr.write(text)),
    fetch,
  });
  // Standard input may still be open.
  process.exit(0);
} catch (error) {
  // The message contains no secret; a stack trace would not help the user.
  process.stderr.write(`${(error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write(`\n${USAGE}`);
  process.exit(1);
}
