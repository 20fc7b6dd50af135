/** Reads the installer token without showing it to anyone else. */
import type { ReadStream } from 'node:tty';

export const TOKEN_VARIABLE = 'SERVICE_INSTALLER_TOKEN';

/** A token has 47 characters. */
const MAX_LENGTH = 200;
const [CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\u0003', '\u0004', '\b', '\u007f'];

type Input = Pick<ReadStream, 'isTTY' | 'setRawMode'> & NodeJS.ReadableStream;

/**
 * From the environment, else from the first line of standard input; at a terminal it prompts and
 * does not echo.
 *
 * @throws Error if there is none
 */
export async function readToken(
  env: Record<string, string | undefined>,
  input: Input,
  prompt: (text: string) => void,
): Promise<string> {
  const given = env[TOKEN_VARIABLE]?.trim();
  const token = given || (input.isTTY ? await askFor(input, prompt) : await readLine(input)).trim();
  if (token === '') throw new Error('No installer token was given.');
  if (token.length > MAX_LENGTH) throw new Error('That is no installer token.');
  return token;
}

async function readLine(input: Input): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n') || text.length > 10 * MAX_LENGTH) break;
  }
  return text.split('\n', 1)[0] ?? '';
}

async function askFor(input: Input, prompt: (text: string) => void): Promise<string> {
  prompt('Installer token (not shown): ');
  input.setRawMode(true);
  let text = '';
  try {
    for await (const chunk of input) {
      for (const char of chunk.toString()) {
        if (char === CTRL_C) throw new Error('Nothing was done.');
        if (char === '\r' || char === '\n' || char === CTRL_D) return text;
        if (char === BACKSPACE || char === DELETE) text = text.slice(0, -1);
        else if (text.length <= MAX_LENGTH) text += char;
      }
    }
    return text;
  } finally {
    input.setRawMode(false);
    prompt('\n');
  }
}
