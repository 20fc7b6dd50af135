import { describe, expect, it } from 'vitest';
import { readOptions } from './options.ts';

const read = (...args: string[]) => readOptions(['--client', 'cursor', ...args]);

it('has what is not said', () => {
  expect(read()).toEqual({
    ...{ client: 'cursor', url: 'http://localhost:8080', gateway: undefined, name: 'governance' },
    ...{ file: undefined, action: 'connect', replace: false },
  });
  expect(read('--url', 'https://g.example/a//', '--dry-run', '--name', 'x')).toMatchObject({
    ...{ url: 'https://g.example/a', action: 'show', name: 'x' },
  });
  expect(read('--undo')).toMatchObject({ action: 'undo' });
  expect(readOptions(['-h'])).toBe('help');
});

describe('refuses', () => {
  it.each([
    [['--client', 'notepad'], /--client/],
    [['--client', 'other'], /--client/],
    [['--name', 'a.b'], /--name/],
    [['--name', '__proto__ x'], /--name/],
    [['--url', 'ftp://g.example'], /--url is not an http/],
    [['--url', 'nonsense'], /--url is not an http/],
    [['--url', 'https://ann:pw@g.example'], /without credentials/],
    [['--gateway', 'http://g.example/mcp/v1'], /without TLS/],
    [['--url', 'http://127.0.0.1.evil.example'], /without TLS/],
    [['--undo', '--dry-run'], /--dry-run/],
    [['--what'], /are unknown/],
  ])('%j', (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });

  it('a token on the command line, without repeating it', () => {
    for (const args of [['ins_secret'], ['--token', 'ins_secret'], ['--url', 'ins_secret']]) {
      const refused = () => read(...args);
      expect(refused).toThrow();
      expect(refused).not.toThrow(/ins_secret/);
    }
  });
});

it('plain HTTP to another machine has to be wanted', () => {
  expect(read('--url', 'http://g.example', '--allow-http')).toMatchObject({
    url: 'http://g.example',
  });
  for (const url of ['http://127.0.0.1:8080', 'http://[::1]:8080', 'http://localhost']) {
    expect(read('--url', url)).toMatchObject({ url });
  }
});
