/**
 * `npm run page -- [a Chromium of your own]`: tests the page of the verification service in a real
 * browser, by keyboard, file chooser and drop, in both colour schemes. Prints what passed, exits
 * with 1 if anything failed, and leaves screenshots in .tmp/page.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';
import { install } from '../conformance/install.ts';
import { installChromium, startBrowser } from './chromium.ts';
import { writeFiles } from './files.ts';
import { startVerifier } from './service.ts';
import { STEPS } from './steps.ts';
import { Tab } from './tab.ts';

const AXE = 'axe-core@4.14.1';

const pictures = join(projectRoot, '.tmp/page');
mkdirSync(pictures, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'page-files-'));
const axe = readFileSync(await install(AXE, 'node_modules/axe-core/axe.min.js'), 'utf8');
const browser = await startBrowser(process.argv[2] ?? (await installChromium()));
const verifier = await startVerifier();
let failed = 0;
try {
  const files = writeFiles((name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  });
  for (const [name, step] of STEPS) {
    const tab = await Tab.open(browser.connection);
    try {
      await tab.look({ scheme: 'light', width: 1280 });
      await tab.goto(verifier.url);
      await step({ tab, files, axe, url: verifier.url, pictures, stop: verifier.close });
      console.log(`[ok]   ${name}`);
    } catch (error) {
      failed++;
      console.log(`[FAIL] ${name}: ${error instanceof Error ? error.message : String(error)}`);
      await tab.picture(join(pictures, `failed-${failed}.png`)).catch(() => undefined);
    }
    await tab.close();
  }
} finally {
  await browser.close();
  await verifier.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${STEPS.length - failed} of ${STEPS.length} passed; pictures: .tmp/page`);
process.exitCode = failed > 0 ? 1 : 0;
