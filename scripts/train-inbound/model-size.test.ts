import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SEQUENCE_FILE, WORDING_FILE } from '@governance/shared/detect/inbound/model-parts';
import { assetPath } from '@governance/shared/process/assets';
import { expect, it } from 'vitest';

const MAX_BYTES = 1_000_000;

it('the three files of the shipped model have at most a million bytes together', () => {
  const folder = dirname(WORDING_FILE);
  const files = readdirSync(assetPath(folder)).sort();
  // A part that is added counts, too.
  expect(files).toEqual([basename(SEQUENCE_FILE), basename(WORDING_FILE)]);
  const paths = [
    'shared/src/detect/inbound/model.json',
    ...files.map((file) => join(folder, file)),
  ];
  const sizes = paths.map((path) => [path, statSync(assetPath(path)).size] as const);
  const sum = sizes.reduce((total, [, size]) => total + size, 0);
  expect(sum, JSON.stringify(sizes)).toBeLessThanOrEqual(MAX_BYTES);
});
