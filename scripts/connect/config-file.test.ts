import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  prepareFolder,
  readConfigFile,
  replaceConfigFile,
  restoreBackup,
  rewriteConfigFile,
} from './config-file.ts';

let root: string;
let path: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'connect-')));
  path = join(root, 'sub', 'mcp.json');
});
afterEach(() => rmSync(root, { recursive: true }));

const read = () => readConfigFile({ path, root });
const modeOf = (one: string) => statSync(one).mode & 0o777;
function write(text: string, mode = 0o644): void {
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}
const names = () => readdirSync(join(root, 'sub')).sort();

describe('a file', () => {
  it('that does not exist is created for its user alone, and removed by an undo', async () => {
    const file = await read();
    expect(file).toEqual({ path, text: null, mode: 0o600 });
    await prepareFolder(file);
    expect(await replaceConfigFile(file, 'new', 'ours')).toBeNull();
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['new', 0o600]);
    expect(modeOf(join(root, 'sub'))).toBe(0o700);
    expect(await restoreBackup(await read(), 'ours')).toBe(true);
    expect(names()).toEqual([]);
  });

  it('keeps its mode, and what it was is kept for its user alone', async () => {
    write('\uFEFFold\r\n', 0o640);
    const file = await read();
    const backup = (await replaceConfigFile(file, 'new', 'ours')) as string;
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['new', 0o640]);
    expect([readFileSync(backup, 'utf8'), modeOf(backup)]).toEqual(['\uFEFFold\r\n', 0o600]);
    expect(names()).toHaveLength(2);
    expect(await restoreBackup(await read(), 'ours')).toBe(true);
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['\uFEFFold\r\n', 0o640]);
    expect(names()).toEqual(['mcp.json']);
  });

  it('has one backup an entry: older ones hold what somebody replaced', async () => {
    write('1');
    await replaceConfigFile(await read(), '2', 'ours');
    await replaceConfigFile(await read(), '3', 'theirs');
    await replaceConfigFile(await read(), '4', 'ours');
    expect(names()).toHaveLength(3);
    expect(await restoreBackup(await read(), 'ours')).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('3');
    expect(await restoreBackup(await read(), 'theirs')).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('2');
    expect(await restoreBackup(await read(), 'ours')).toBe(false);
  });

  it('that has changed since is not put back, and not overwritten', async () => {
    write('1');
    const file = await read();
    writeFileSync(path, 'meanwhile');
    await expect(replaceConfigFile(file, '2', 'ours')).rejects.toThrow(/changed meanwhile/);
    await expect(rewriteConfigFile(file, '2')).rejects.toThrow(/changed meanwhile/);
    expect([readFileSync(path, 'utf8'), names()]).toEqual(['meanwhile', ['mcp.json']]);
    await replaceConfigFile(await read(), '2', 'ours');
    writeFileSync(path, 'later');
    expect(await restoreBackup(await read(), 'ours')).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('later');
  });

  it.each([
    ['a folder', () => mkdirSync(path, { recursive: true }), /is not a file/],
    [
      'bytes that are no text',
      () => {
        write('');
        writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
      },
      /not UTF-8/,
    ],
    ['too large', () => write(' '.repeat(17 * 1024 * 1024)), /larger than 16 MiB/],
  ])('that is %s is refused', async (_what, make, message) => {
    make();
    await expect(read()).rejects.toThrow(message);
  });

  it('below a missing root is refused', async () => {
    const missing = { path, root: join(root, 'nowhere') };
    await expect(readConfigFile(missing)).rejects.toThrow(/does not exist/);
  });
});

describe.runIf(process.platform !== 'win32')('symbolic links', () => {
  let outside: string;
  beforeEach(() => {
    outside = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));
    writeFileSync(join(outside, 'mcp.json'), 'theirs');
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  it('that stay below the root are followed, and stay', async () => {
    mkdirSync(join(root, 'dotfiles'));
    mkdirSync(join(root, 'sub'));
    writeFileSync(join(root, 'dotfiles/real.json'), 'old');
    symlinkSync('../dotfiles/real.json', path);
    const file = await read();
    expect(file.path).toBe(join(root, 'dotfiles/real.json'));
    await replaceConfigFile(file, 'new', 'ours');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(realpathSync(path)).toBe(file.path);
  });

  it.each([
    ['file', () => symlinkSync(join(outside, 'mcp.json'), path)],
    [
      'folder',
      () => {
        rmSync(join(root, 'sub'), { recursive: true });
        symlinkSync(outside, join(root, 'sub'));
      },
    ],
  ])('that lead out of it by a %s are refused', async (_what, link) => {
    mkdirSync(join(root, 'sub'));
    link();
    await expect(read()).rejects.toThrow(/leads out of/);
    expect(readFileSync(join(outside, 'mcp.json'), 'utf8')).toBe('theirs');
  });

  it('that lead nowhere are refused', async () => {
    mkdirSync(join(root, 'sub'));
    symlinkSync(join(root, 'nothing'), path);
    await expect(read()).rejects.toThrow(/broken symbolic link/);
    expect(existsSync(join(root, 'nothing'))).toBe(false);
  });
});
