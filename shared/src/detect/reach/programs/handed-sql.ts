/** SQL and scripts for a database that the command line of another program hands on. */
import { countKeys } from '../arguments/key-value.ts';
import { wordSet } from '../word-set.ts';
import { afterOptions } from './wrapped-command.ts';

/** Programs of clouds and platforms of which one command takes SQL. */
export const CARRIES_SQL = wordSet(
  'wrangler turso gcloud aws az heroku bq fly flyctl supabase neonctl pscale spanner-cli databricks snow dbt',
);
const IS_SQL =
  /^\s{0,99}(?:delete\s+from|update\s+\S{1,200}\s+set|drop\s+\w|truncate\s|merge\s+into|with\s+\S|begin\b|alter\s+table)/i;
const IS_TRIAL = /^--dry[_-]?run/;

/** The words, and the values of options, that are SQL. */
export function sqlAmong(words: readonly string[], values: readonly string[]): readonly string[] {
  if (words.some((word) => IS_TRIAL.test(word))) return [];
  return [...words, ...values].filter((text) => IS_SQL.test(text));
}

const CALLED = /redis\.p?call\(\s{0,99}["']([a-z]{1,20})["']/gi;

/** The commands that a script in Lua calls, of a key-value store. */
const calledInScript = (script = ''): readonly string[] =>
  [...script.matchAll(CALLED)].map(([, called = '']) => called);

/** Options of redis-cli that have a value, in the next word. */
const REDIS_VALUE =
  /^(?:-[hpsaunridDXt]|--(?:user|pass|sni|cacert|cacertdir|cert|key|tls-ciphers|tls-ciphersuites|show-pushes))$/;

/** What redis-cli is given: only its first word is a command, others are keys and values. */
export function readRedis(rest: readonly string[]): { texts: string[]; things: number } {
  const words = rest.slice(afterOptions(rest, 0, REDIS_VALUE));
  const [first = '', ...keys] = words;
  const called = /^eval/i.test(first) ? calledInScript(keys[0]) : [];
  const things = countKeys([first.toUpperCase(), ...keys], true) ?? 0;
  return { texts: [words.join(' '), ...called], things };
}
