/** What must hold for the page: each step begins with a fresh page. */
import { equal, fail, match, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { z } from 'zod';
import type { Files } from './files.ts';
import type { Tab } from './tab.ts';

export interface Given {
  tab: Tab;
  files: Files;
  /** The source of axe-core. */
  axe: string;
  url: string;
  pictures: string;
  /** Ends the service. */
  stop(): Promise<void>;
}

type Step = (given: Given) => Promise<void>;

const ANSWERED = '!["", "BUSY"].includes(document.querySelector("#verdict").className)';

async function verdictOf(tab: Tab): Promise<string> {
  await tab.until(ANSWERED);
  return tab.text('#verdict');
}

async function submit(tab: Tab): Promise<string> {
  await tab.evaluate('document.querySelector("#verify").click()');
  return verdictOf(tab);
}

/** Waits until the dropped files have been read. */
async function drop(tab: Tab, selector: string, ...files: string[]): Promise<void> {
  await tab.drop(selector, files);
  await tab.until('!document.querySelector("#chosen").textContent.startsWith("No package")');
}

async function press(tab: Tab, to: string): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await tab.press('Tab');
    if ((await tab.focused()) === to) return;
  }
  fail(`the key Tab does not lead to ${to}`);
}

const AxeResult = z.object({
  violations: z.array(z.looseObject({ id: z.string(), nodes: z.array(z.unknown()) })),
  incomplete: z.array(z.looseObject({ id: z.string(), nodes: z.array(z.unknown()) })),
  passes: z.number(),
});

/**
 * Runs every rule of axe-core, best practices included; results that it leaves to people count,
 * too. It cannot determine the colours of scrolled text, so a filled anchor field is excluded; an
 * empty one has the same colours.
 */
async function checkAxe(tab: Tab, axe: string): Promise<void> {
  await tab.evaluate(`${axe};0`);
  const run = `axe.run({ exclude: document.querySelector('#anchor').value ? ['#anchor'] : [] }).then(({ violations, incomplete, passes }) =>
    JSON.parse(JSON.stringify({ violations, incomplete, passes: passes.length })))`;
  const { violations, incomplete, passes } = AxeResult.parse(await tab.evaluate(run));
  equal(
    [...violations, ...incomplete]
      .map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes).slice(0, 3000)}`)
      .join('; '),
    '',
  );
  ok(passes > 20, `axe-core looked at ${passes} rules only`);
}

const LOOKS = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 1280 },
  { scheme: 'light', width: 320 },
  { scheme: 'dark', width: 320 },
  { scheme: 'dark', width: 1280, forced: true },
] as const;

async function checkLooks({ tab, axe, pictures }: Given, name: string): Promise<void> {
  for (const look of LOOKS) {
    await tab.look(look);
    // With forced colours, the system's differ from those that axe-core computes.
    if (!('forced' in look)) await checkAxe(tab, axe);
    const over = await tab.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    equal(over, 0, `the page is wider than ${look.width}`);
    const forced = 'forced' in look ? '-forced' : '';
    await tab.picture(join(pictures, `${name}-${look.scheme}-${look.width}${forced}.png`));
  }
}

export const STEPS: readonly (readonly [string, Step])[] = [
  [
    'it asks nobody else, and its policy refuses nothing of its own',
    async ({ tab, url, files }) => {
      await drop(tab, '#zone', files.good, files.anchor);
      equal(await submit(tab), 'VERIFIED');
      const elsewhere = tab.requests.filter(
        (one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'),
      );
      equal(elsewhere.join(' '), '');
      equal(tab.complaints.join(' '), '');
    },
  ],
  [
    'its policy does refuse a script, a style and an image of others',
    async ({ tab }) => {
      await tab.evaluate(`(() => {
        const script = document.createElement('script');
        script.textContent = 'window.ran = true';
        const image = new Image();
        image.src = 'https://elsewhere.example/a.png';
        document.body.append(script, image);
      })()`);
      await tab.until('true');
      equal(await tab.evaluate('window.ran === undefined'), true);
      equal(tab.complaints.filter((one) => one.includes('Content Security Policy')).length, 2);
    },
  ],
  [
    'a screen reader finds each field by its name, and hears the verdict',
    async ({ tab, files }) => {
      const before = await tab.spoken();
      const find = (role: string, name: string | RegExp) =>
        before.find(
          (one) =>
            one.role === role && (name instanceof RegExp ? name.test(one.name) : one.name === name),
        ) ??
        fail(
          `no ${role} is named ${name}: ${before.map((one) => `${one.role} ${one.name}`).join(', ')}`,
        );
      find('heading', 'Evidence verification');
      find('main', '');
      find('group', '1. Package');
      find('button', /^Evidence package/);
      find('group', '2. Trust anchor');
      find('textbox', 'Its JSON');
      find('button', /^or its file/);
      find('button', 'Verify');
      equal(find('status', '').properties.live, 'polite');
      await drop(tab, '#zone', files.forged, files.forgedAnchor);
      await submit(tab);
      const after = await tab.spoken();
      // A possible line break is read as a space.
      const roles = after.map(({ role, name }) => `${role} ${name.replace('. ', '.')}`);
      for (const one of [
        'region What was found',
        'table Each check, in the order of the report',
        'columnheader Check',
        `rowheader ${files.forgedBy}`,
      ]) {
        ok(roles.includes(one), `there is no ${one}: ${roles.join(', ')}`);
      }
    },
  ],
  [
    'by keyboard alone: choose, type, verify, read',
    async ({ tab, files }) => {
      await press(tab, 'package');
      await tab.choose(() => tab.press('Enter'), [files.good]);
      await press(tab, 'anchor');
      await tab.type(files.anchorText);
      await press(tab, 'anchor-file');
      await press(tab, 'verify');
      await tab.press('Enter');
      equal(await verdictOf(tab), 'VERIFIED');
      equal(await tab.focused(), 'verify');
      await press(tab, 'SUMMARY');
      await tab.press('Space');
      await tab.until('document.querySelector("details").open');
      await press(tab, 'report');
      match(await tab.text('#report'), /^VERDICT: VERIFIED\nINDEPENDENCE: independent /);
    },
  ],
  [
    'the focus can be seen wherever it goes',
    async ({ tab }) => {
      for (let i = 0; i < 5; i++) {
        await tab.press('Tab');
        const width = await tab.evaluate(
          'parseFloat(getComputedStyle(document.activeElement).outlineWidth)',
        );
        ok(Number(width) >= 2, `no outline around ${await tab.focused()}`);
      }
    },
  ],
  [
    'both files by file chooser',
    async ({ tab, files }) => {
      await tab.choose(async () => {
        await press(tab, 'package');
        await tab.press('Space');
      }, [files.good]);
      await tab.choose(async () => {
        await press(tab, 'anchor-file');
        await tab.press('Enter');
      }, [files.anchor]);
      await tab.until('document.querySelector("#anchor").value !== ""');
      match(await tab.text('#chosen'), /^evidence\.tar\.gz \(\d KiB\), a trust anchor\.$/);
      equal(await submit(tab), 'VERIFIED');
    },
  ],
  [
    'a package and its anchor dropped at once, beside the field',
    async (given) => {
      const { tab, files, url } = given;
      await drop(tab, 'h1', files.anchor, files.good);
      equal(await tab.evaluate('location.href'), `${url}/`);
      equal(await submit(tab), 'VERIFIED');
      match(await tab.text('#meaning'), /Nothing but your trust anchor/);
      equal(await tab.evaluate('document.querySelectorAll("#checks tr").length'), 29);
      await checkLooks(given, 'verified');
    },
  ],
  [
    'a forged package is refused, and says by which check',
    async (given) => {
      const { tab, files } = given;
      await drop(tab, '#zone', files.forged, files.forgedAnchor);
      const verdict = await submit(tab);
      ok(verdict.startsWith('NOT_VERIFIED: '), verdict);
      ok(verdict.includes(files.forgedBy), verdict);
      await checkLooks(given, 'forged');
    },
  ],
  [
    'without an anchor it is inconclusive, and says what to do',
    async (given) => {
      const { tab, files } = given;
      await drop(tab, '#zone', files.good);
      equal(await submit(tab), 'INCONCLUSIVE');
      match(await tab.text('#meaning'), /give the trust anchor/);
      await checkLooks(given, 'inconclusive');
    },
  ],
  [
    'what is no package is unreadable, and its name is no HTML',
    async (given) => {
      const { tab, files } = given;
      await drop(tab, '#zone', files.noise);
      ok((await submit(tab)).startsWith('UNREADABLE'));
      match(await tab.text('#chosen'), /^<img src=x/);
      equal(await tab.evaluate('document.images.length'), 0);
      await checkLooks(given, 'unreadable');
    },
  ],
  [
    'more than 64 MiB is reported before it is sent',
    async (given) => {
      const { tab, files, url } = given;
      await drop(tab, '#zone', files.tooLarge);
      match(await submit(tab), /64\.1 MiB\. This service takes up to 64 MiB: use the command/);
      equal(
        await tab.evaluate('document.querySelector("#package").getAttribute("aria-invalid")'),
        'true',
      );
      equal(tab.requests.filter((one) => one.startsWith(`${url}/api/`)).length, 0);
      await checkLooks(given, 'too-large');
    },
  ],
  [
    'an invalid anchor is reported with its place, and can be corrected',
    async (given) => {
      const { tab, files } = given;
      await drop(tab, '#zone', files.good);
      await tab.choose(async () => {
        await press(tab, 'anchor-file');
        await tab.press('Enter');
      }, [files.wrongAnchor]);
      await tab.until('document.querySelector("#anchor").value !== ""');
      match(
        await submit(tab),
        /^The trust anchor does not have the format of a trust anchor \(keys\.0\.purpose\)/,
      );
      equal(
        await tab.evaluate('document.querySelector("#anchor").getAttribute("aria-invalid")'),
        'true',
      );
      await checkLooks(given, 'wrong-anchor');
      await tab.drop('#anchor', [files.anchor]);
      await tab.until('!document.querySelector("#anchor").value.includes("evidences")');
      equal(await submit(tab), 'VERIFIED');
    },
  ],
  [
    'several packages at once are not taken',
    async ({ tab, files }) => {
      await tab.drop('#zone', [files.good, files.forged]);
      match(await verdictOf(tab), /one package at a time/);
      equal(await tab.evaluate('document.querySelector("#package").files.length'), 0);
    },
  ],
  [
    'an empty choice is reported by the browser, at the field',
    async (given) => {
      const { tab } = given;
      await press(given.tab, 'verify');
      await tab.press('Enter');
      equal(await tab.focused(), 'package');
      equal(await tab.text('#verdict'), '');
      await checkLooks(given, 'empty');
    },
  ],
  [
    'without its script the form answers with the report as text',
    async ({ tab, files, url }) => {
      await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
      await tab.goto(url);
      await tab.choose(async () => {
        await press(tab, 'package');
        await tab.press('Enter');
      }, [files.good]);
      await press(tab, 'verify');
      await tab.press('Enter');
      await tab.until('location.pathname === "/api/v1/verify.txt" && document.body !== null');
      match(await tab.text('body'), /^VERDICT: INCONCLUSIVE/);
    },
  ],
  // Runs last: it ends the service.
  [
    'a stopped service is reported',
    async (given) => {
      await drop(given.tab, '#zone', given.files.good);
      await given.stop();
      match(await submit(given.tab), /did not answer/);
    },
  ],
];
