import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The installation's root: the nearest folder above this module with the product's own files. */
export const projectRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/**
 * The absolute path of a data file that ships with the product.
 *
 * @param path from the repository's root, with forward slashes
 * @throws Error when the file is not there: an incomplete installation must not start
 */
export function assetPath(path: string): string {
  const absolute = join(projectRoot, path);
  if (!existsSync(absolute)) throw new Error(`missing file of the installation: ${path}`);
  return absolute;
}

function findRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'policies/rego'))) {
      return folder;
    }
    if (folder === dirname(folder)) throw new Error(`no installation found above ${start}`);
  }
}
