/** OPA's own test cases, as v1/test/cases/cases.go describes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isAlias, isMap, parse, parseDocument } from 'yaml';
import { RegoObject, type RegoValue } from '../src/evaluator/rego-value.ts';
import { fromYaml, toJsonText } from './rego-json.ts';

export interface ConformanceCase {
  file: string;
  /** OPA's name for the case. */
  note: string;
  regoVersion: 0 | 1;
  query: string;
  modules: string[];
  dataJson: string;
  /** The input as JSON or, from `input_term`, as Rego. */
  input: string | undefined;
  /** The bindings of the query's variables, one object for each result. */
  wantResult: readonly RegoObject[] | undefined;
  wantErrorCode: string | undefined;
  wantsError: boolean;
  strictError: boolean;
  sortBindings: boolean;
}

const TEST_CASES = 'v1/test/cases/testdata';
const EXCEPTIONS = 'internal/wasm/sdk/test/e2e/exceptions.yaml';

/** Takes OPA's source folder; returns all cases, v0 then v1, in the order of their files. */
export function readCases(opaSource: string): ConformanceCase[] {
  return ([0, 1] as const).flatMap((regoVersion) => {
    const root = join(opaSource, TEST_CASES, `v${regoVersion}`);
    return (readdirSync(root, { recursive: true }) as string[])
      .filter((name) => name.endsWith('.yaml'))
      .sort()
      .flatMap((name) => readFile(join(root, name), opaSource, regoVersion));
  });
}

/** The notes that OPA itself leaves out for WebAssembly, each with its reason. */
export function readExceptions(opaSource: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(opaSource, EXCEPTIONS), 'utf8');
  return new Map(Object.entries(parse(text) as Record<string, string>));
}

function readFile(path: string, opaSource: string, regoVersion: 0 | 1): ConformanceCase[] {
  const document = parseDocument(readFileSync(path, 'utf8'), {
    intAsBigInt: true,
    keepSourceTokens: false,
  });
  const root = fromYaml(document.contents, (alias) =>
    isAlias(alias) ? (alias.resolve(document) ?? undefined) : undefined,
  );
  if (!isMap(document.contents)) return [];
  const file = relative(opaSource, path);
  return list(field(root, 'cases')).map((one) => toCase(one, file, regoVersion));
}

function toCase(one: RegoValue, file: string, regoVersion: 0 | 1): ConformanceCase {
  const text = (name: string) => {
    const value = field(one, name);
    return typeof value === 'string' ? value : undefined;
  };
  const input = field(one, 'input');
  const inputTerm = text('input_term');
  const want = field(one, 'want_result');
  return {
    file,
    note: text('note') ?? '',
    regoVersion,
    query: text('query') ?? '',
    modules: list(field(one, 'modules')).map(String),
    dataJson: toJsonText(field(one, 'data') ?? new RegoObject([])),
    input: inputTerm ?? (input === undefined ? undefined : toJsonText(input)),
    wantResult: want === undefined ? undefined : (list(want) as RegoObject[]),
    wantErrorCode: text('want_error_code'),
    wantsError: text('want_error_code') !== undefined || text('want_error') !== undefined,
    strictError: field(one, 'strict_error') === true,
    sortBindings: field(one, 'sort_bindings') === true,
  };
}

function field(value: RegoValue, name: string): RegoValue | undefined {
  if (!(value instanceof RegoObject)) return undefined;
  return value.entries.find(([key]) => key === name)?.[1];
}

function list(value: RegoValue | undefined): readonly RegoValue[] {
  return Array.isArray(value) ? value : [];
}
