/**
 * Settings from the environment. Each variable is declared once, with its default and its meaning;
 * docs/configuration.md and .env.example are generated from the declarations, and a process reads
 * its environment once and fails naming every invalid variable.
 */
import { inspect } from 'node:util';
import { z } from 'zod';
import { withoutTrailingSlashes } from './text.ts';

/** A value that is never shown unless asked for: not in logs, JSON or error messages. */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

export interface Setting<T> {
  /** The environment variable. */
  name: string;
  /** One or two sentences for docs/configuration.md. */
  description: string;
  /** As it would stand in the environment; absent: the setting is undefined unless given. */
  default?: string;
  /** Shown to a reader in place of a default, where there is none to show. */
  defaultNote?: string;
  /** From the variable's text to its value. */
  parse: z.ZodType<T, string>;
}

type Declaration<T> = Omit<Setting<T>, 'default'>;

/** Declares a setting; without a default its value may be undefined. */
export function setting<T>(declaration: Declaration<T> & { default: string }): Setting<T>;
export function setting<T>(declaration: Declaration<T>): Setting<T | undefined>;
export function setting<T>(declaration: Setting<T>): Setting<T | undefined> {
  return declaration;
}

export type Settings = Record<string, Setting<unknown>>;
export type SettingValues<S extends Settings> = {
  [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Values while some may be invalid: those are absent. */
export type ReadableValues<S extends Settings> = {
  [K in keyof S]?: SettingValues<S>[K] | undefined;
};

export interface SettingProblem {
  name: string;
  message: string;
}

/** Everything that is wrong with the environment, so that it can be fixed in one go. */
export class ConfigurationError extends Error {
  readonly problems: SettingProblem[];

  constructor(problems: SettingProblem[]) {
    const lines = problems.map(({ name, message }) => `  ${name}: ${message}`);
    super(`the configuration is not usable:\n${lines.join('\n')}`);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/**
 * Reads settings.
 *
 * @param settings the declarations
 * @param env usually `process.env`; an empty text counts as not set
 * @param check adds problems that lie between settings; what is wrong by itself is absent there, and
 *   named once
 * @throws ConfigurationError naming every variable that is wrong; values are not repeated in it
 */
export function parseSettings<S extends Settings>(
  settings: S,
  env: NodeJS.ProcessEnv,
  check: (values: ReadableValues<S>) => SettingProblem[] = () => [],
): SettingValues<S> {
  const problems: SettingProblem[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, declaration] of Object.entries(settings)) {
    const text = env[declaration.name] || declaration.default;
    if (text === undefined) continue;
    const result = declaration.parse.safeParse(text);
    if (result.success) values[key] = result.data;
    else {
      const message = result.error.issues.map((issue) => issue.message).join('; ');
      problems.push({ name: declaration.name, message });
    }
  }
  const named = new Set(problems.map(({ name }) => name));
  const between = check(values as ReadableValues<S>).filter(({ name }) => !named.has(name));
  problems.push(...between);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return values as SettingValues<S>;
}

/**
 * Reads parts of the environment that are parsed apart, so that what is wrong with any is said at
 * once.
 *
 * @throws ConfigurationError naming every variable that is wrong, each problem once
 */
export function parseTogether<T extends readonly (() => unknown)[]>(
  ...parsers: T
): { [K in keyof T]: T[K] extends () => infer R ? R : never } {
  const problems = new Map<string, SettingProblem>();
  const values = parsers.map((parse) => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const problem of error.problems) {
        problems.set(`${problem.name} ${problem.message}`, problem);
      }
      return undefined;
    }
  });
  if (problems.size > 0) throw new ConfigurationError([...problems.values()]);
  return values as { [K in keyof T]: T[K] extends () => infer R ? R : never };
}

/**
 * Variables that look like settings but are not: typing errors that would be ignored silently.
 *
 * @param declared every declaration that the process reads
 * @returns their names, sorted
 */
export function findUnknownSettings(env: NodeJS.ProcessEnv, ...declared: Settings[]): string[] {
  const known = new Set(declared.flatMap((settings) => Object.values(settings)).map((s) => s.name));
  return Object.keys(env)
    .filter((name) => /^(?:SERVICE|DATABASE)_/.test(name) && env[name] && !known.has(name))
    .sort();
}

/** `true` or `false`. */
export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

/** A whole number within bounds, which its description says. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((number) => number >= min && number <= max, error)
    .describe(`From ${min} to ${max}.`);
}

/** Any text, kept from view. */
export const secretText = z.string().transform((text) => new Secret(text));

/** Texts separated by commas; surrounding spaces are ignored. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** An http or https URL. */
export const webAddress = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http or https address',
  );

/**
 * An address of a service in its one spelling, without a slash at its end: paths are put behind it,
 * and clients compare the names of tokens and resources with it as texts.
 */
export const bareAddress = webAddress.transform((text, context) => {
  const url = new URL(text);
  if (url.username === '' && url.password === '' && !/[?#]/.test(text)) {
    return withoutTrailingSlashes(url.href);
  }
  context.addIssue('must be an address without user, query and fragment');
  return z.NEVER;
});

/** Origins as browsers write them (RFC 6454), separated by commas; `*` stays. */
export const originList = commaList.transform((entries, context) => {
  const origins = entries.map((entry) => (entry === '*' ? entry : findOrigin(entry)));
  const known = origins.filter((origin) => origin !== undefined);
  if (known.length === origins.length) return known;
  context.addIssue('must be origins such as https://console.example, separated by commas, or *');
  return z.NEVER;
});

/** Undefined for what is no origin, or is more than one. */
function findOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, href } = new URL(text);
  // Not `URL.origin`, which is `null` for a browser's extension.
  const origin = `${protocol}//${host}`;
  if (host === '' || host.includes('*') || withoutTrailingSlashes(href) !== origin) {
    return undefined;
  }
  return origin.toLowerCase();
}
