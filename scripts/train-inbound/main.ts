/**
 * `npm run inbound:train`: generates shared/src/detect/inbound/model.json. The same sources give
 * the same weights; with the same Node, the same file byte for byte.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/assets';
import { SEED, trainingTexts } from './texts.ts';
import { trainModel } from './train-model.ts';
import { wordGroupsFile } from './word-groups.ts';
import { writtenTexts } from './written-texts.ts';

const started = process.cpuUsage();
const model = trainModel(trainingTexts(), writtenTexts(), wordGroupsFile(), SEED);
writeFileSync(
  join(projectRoot, 'shared/src/detect/inbound/model.json'),
  `${JSON.stringify(model, null, 2)}\n`,
);
const seconds = process.cpuUsage(started).user / 1e6;
console.log(`model.json: ${model.texts} texts, bias ${model.bias}, ${seconds.toFixed(0)} s of CPU`);
