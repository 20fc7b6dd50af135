/** One tab: a person's actions in it (keys, a file chooser, a drop), and what they perceive. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Connection, Params } from './devtools.ts';

const Evaluated = z.looseObject({
  result: z.looseObject({ value: z.unknown().optional() }),
  exceptionDetails: z.looseObject({ text: z.string() }).optional(),
});
const AxNodes = z.looseObject({
  nodes: z.array(
    z.looseObject({
      ignored: z.boolean(),
      role: z.looseObject({ value: z.string() }).optional(),
      name: z.looseObject({ value: z.string() }).optional(),
      properties: z
        .array(
          z.looseObject({
            name: z.string(),
            value: z.looseObject({ value: z.unknown().optional() }),
          }),
        )
        .optional(),
    }),
  ),
});

/** A node as a screen reader receives it. */
export interface SpokenNode {
  role: string;
  name: string;
  properties: Record<string, unknown>;
}

const KEYS: Record<string, Params> = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Space: { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' },
};
const POLL_MS = 50;
const WAIT_MS = 30_000;

export class Tab {
  /** The URL of each request. */
  readonly requests: string[] = [];
  /** Console messages, including violations of the content security policy. */
  readonly complaints: string[] = [];
  #chosen: ((params: Params) => void) | undefined;
  readonly #connection: Connection;
  readonly #session: string;
  readonly #target: string;

  private constructor(connection: Connection, session: string, target: string) {
    this.#connection = connection;
    this.#session = session;
    this.#target = target;
  }

  static async open(connection: Connection): Promise<Tab> {
    const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
    const attached = await connection.send('Target.attachToTarget', { targetId, flatten: true });
    const session = String(attached.sessionId);
    const tab = new Tab(connection, session, String(targetId));
    connection.on(session, 'Network.requestWillBeSent', ({ request }) => {
      tab.requests.push(z.looseObject({ url: z.string() }).parse(request).url);
    });
    connection.on(session, 'Log.entryAdded', ({ entry }) => {
      tab.complaints.push(z.looseObject({ text: z.string() }).parse(entry).text);
    });
    connection.on(session, 'Runtime.exceptionThrown', (params) => {
      tab.complaints.push(JSON.stringify(params).slice(0, 500));
    });
    connection.on(session, 'Page.fileChooserOpened', (params) => tab.#chosen?.(params));
    for (const domain of ['Page', 'Network', 'Log', 'Runtime', 'DOM', 'Accessibility']) {
      await tab.send(`${domain}.enable`);
    }
    return tab;
  }

  send(method: string, params: Params = {}): Promise<Params> {
    return this.#connection.send(method, params, this.#session);
  }

  async close(): Promise<void> {
    await this.#connection.send('Target.closeTarget', { targetId: this.#target });
  }

  async goto(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
    await this.until('document.readyState === "complete"');
  }

  /** @throws Error if the expression throws */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    const { result, exceptionDetails } = Evaluated.parse(answer);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 1_000));
    return result.value;
  }

  async text(selector: string): Promise<string> {
    return String(
      await this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`),
    );
  }

  /** @throws Error if it does not become true */
  async until(expression: string): Promise<void> {
    const end = Date.now() + WAIT_MS;
    while (!(await this.evaluate(`Boolean(${expression})`))) {
      if (Date.now() > end) throw new Error(`it did not come to ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async press(name: keyof typeof KEYS & string): Promise<void> {
    const { text, ...key } = KEYS[name] ?? {};
    await this.send('Input.dispatchKeyEvent', {
      type: text === undefined ? 'rawKeyDown' : 'keyDown',
      ...key,
      ...(text !== undefined && { text }),
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  }

  async type(text: string): Promise<void> {
    await this.send('Input.insertText', { text });
  }

  focused(): Promise<unknown> {
    return this.evaluate('document.activeElement?.id || document.activeElement?.tagName');
  }

  /** Opens a file chooser through the given action, and chooses files in it. */
  async choose(open: () => Promise<void>, files: string[]): Promise<void> {
    await this.send('Page.setInterceptFileChooserDialog', { enabled: true });
    const opened = new Promise<Params>((resolve, reject) => {
      this.#chosen = resolve;
      setTimeout(() => reject(new Error('no file chooser opened')), WAIT_MS).unref();
    });
    await open();
    const { backendNodeId } = await opened;
    await this.send('DOM.setFileInputFiles', { files, backendNodeId });
    await this.send('Page.setInterceptFileChooserDialog', { enabled: false });
  }

  /** Drags files of the machine over an element and drops them there. */
  async drop(selector: string, files: string[]): Promise<void> {
    const [x, y] = z.tuple([z.number(), z.number()]).parse(
      await this.evaluate(
        `(() => { const { left, top, width, height } = document.querySelector(${JSON.stringify(selector)})
          .getBoundingClientRect(); return [left + width / 2, top + height / 2]; })()`,
      ),
    );
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) {
      await this.send('Input.dispatchDragEvent', { type, x, y, data });
    }
  }

  /** What a screen reader finds, in order. */
  async spoken(): Promise<SpokenNode[]> {
    const { nodes } = AxNodes.parse(await this.send('Accessibility.getFullAXTree'));
    return nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name, properties = [] }) => ({
        role: role?.value ?? '',
        name: name?.value ?? '',
        properties: Object.fromEntries(properties.map((one) => [one.name, one.value.value])),
      }));
  }

  async look(given: { scheme: 'light' | 'dark'; width: number; forced?: boolean }): Promise<void> {
    await this.send('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: given.scheme },
        { name: 'forced-colors', value: given.forced ? 'active' : 'none' },
      ],
    });
    const metrics = { width: given.width, height: 2_400, deviceScaleFactor: 1, mobile: false };
    await this.send('Emulation.setDeviceMetricsOverride', metrics);
  }

  /** The whole page as an image. */
  async picture(path: string): Promise<void> {
    const { data } = await this.send('Page.captureScreenshot', {
      captureBeyondViewport: true,
      format: 'png',
    });
    writeFileSync(path, Buffer.from(String(data), 'base64'));
  }
}
