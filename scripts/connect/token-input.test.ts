import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readToken } from './token-input.ts';

function aTerminal(isTTY: boolean) {
  const modes: boolean[] = [];
  const shown: string[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY,
    setRawMode: (mode: boolean) => void modes.push(mode),
  });
  const read = (env: Record<string, string> = {}) =>
    readToken(env, input as never, (text) => shown.push(text));
  return { input, modes, shown, read };
}

it('comes from the environment first', async () => {
  const { read } = aTerminal(true);
  expect(await read({ SERVICE_INSTALLER_TOKEN: ' ins_1\n' })).toBe('ins_1');
});

it('is the first line of what is piped in', async () => {
  const { input, read } = aTerminal(false);
  input.end('ins_1\r\nmore');
  expect(await read()).toBe('ins_1');
});

it('is typed unseen, with corrections', async () => {
  const { input, modes, shown, read } = aTerminal(true);
  const token = read();
  for (const keys of ['ins', '_9\u007f', '1\r']) input.write(keys);
  expect(await token).toBe('ins_1');
  expect(modes).toEqual([true, false]);
  expect(shown.join('')).toBe('Installer token (not shown): \n');
});

it('is not there after Ctrl-C, nothing or too much', async () => {
  const stopped = aTerminal(true);
  stopped.input.write('ins\u0003');
  await expect(stopped.read()).rejects.toThrow(/Nothing was done/);
  expect(stopped.modes).toEqual([true, false]);
  const empty = aTerminal(false);
  empty.input.end('\n');
  await expect(empty.read()).rejects.toThrow(/No installer token/);
  const long = aTerminal(false);
  long.input.end(`${'x'.repeat(300)}\n`);
  await expect(long.read()).rejects.toThrow(/no installer token/);
});
