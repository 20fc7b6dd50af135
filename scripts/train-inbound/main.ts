/**
 * `npm run inbound:train`: generates shared/src/detect/inbound/model.json and the files of
 * shared/inbound-model/. The same sources give the same weights; with the same Node, the same files
 * byte for byte.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SEQUENCE_FILE, WORDING_FILE } from '@governance/shared/detect/inbound/model-parts';
import { projectRoot } from '@governance/shared/process/assets';
import { SEED, trainingTexts } from './texts.ts';
import { trainModel } from './train-model.ts';
import { wordGroupsFile } from './word-groups.ts';
import { writtenTexts } from './written-texts.ts';

const started = process.cpuUsage();
const { model, wording, sequence } = trainModel(
  trainingTexts(),
  writtenTexts(),
  wordGroupsFile(),
  SEED,
);
for (const [path, content] of [
  ['shared/src/detect/inbound/model.json', `${JSON.stringify(model, null, 2)}\n`],
  [WORDING_FILE, wording],
  [SEQUENCE_FILE, sequence],
] as const) {
  const file = join(projectRoot, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
const seconds = process.cpuUsage(started).user / 1e6;
console.log(`model.json: ${model.texts} texts, bias ${model.bias}, ${seconds.toFixed(0)} s of CPU`);
