// What `npm start` may do with dist/: whether this user can build it, and whether that is needed.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const SOURCES = ['shared', 'policies', 'verifier', 'control-plane', 'data-plane'];

/** Whether this user may write what a build writes. */
export function canBuild() {
  const written = [existsSync(dist) ? dist : root, join(dist, 'service.js')];
  return written.filter((path) => existsSync(path)).every(isWritable);
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether no source was changed after the last build. */
export function isBuildCurrent() {
  const service = join(dist, 'service.js');
  if (!existsSync(service)) return false;
  const builtAt = statSync(service).mtimeMs;
  return listSources().every((path) => statSync(path).mtimeMs <= builtAt);
}

function listSources() {
  const folders = SOURCES.map((name) => join(root, name, 'src'));
  const found = folders.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true }).map((path) => join(folder, path))
      : [],
  );
  return [join(root, 'service.ts'), ...found].filter(
    (path) => /(?<!\.test)\.(?:ts|mjs|json)$/.test(path) && existsSync(path),
  );
}
