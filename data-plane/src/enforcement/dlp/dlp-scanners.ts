/** The scanners for a bundle's DLP settings. Tenants with equal patterns share a scanner. */
import { BUILTIN_PATTERNS } from '@governance/shared/detect/dlp/builtin-patterns';
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import type { BuiltinOverride, DlpScanner } from '@governance/shared/detect/dlp/scan-contract';
import { createDlpScanner } from '@governance/shared/detect/dlp/scanner';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { Severity } from '@governance/shared/ledger/ledger-record';
import {
  actionFor,
  DEFAULT_DLP_SETTINGS,
  type DlpSettings,
  type DlpSeverity,
} from '@governance/shared/settings/dlp-settings';
import { LRUCache } from 'lru-cache';
import { type Marks, marksOfPatterns, NO_MARKS, withEscapedForms } from '../call/cover-texts.ts';
import { perSettings } from '../permission/per-settings.ts';

export type PreparedDlp = ReturnType<typeof prepareDlp>;

interface Patterns {
  builtins: Readonly<Record<string, BuiltinOverride>>;
  custom: DlpSettings['custom'];
}

/** Compiled scanners that are kept. A closed scanner compiles again when it is used. */
const MAX_SCANNERS = 256;

/** The scan of what an agent sends. */
export interface SentScan {
  readonly findings: readonly DlpFinding[];
  /**
   * The texts that were found and are blocked or warned of; null where they are too many. Never
   * leaves memory.
   */
  readonly matched: Marks | null;
}

const scanners = new LRUCache<string, DlpScanner>({
  max: MAX_SCANNERS,
  dispose: (scanner) => scanner.close(),
});

/** @returns a function that finds the scanner of these patterns. Their long key is built once. */
function scannerOf({ builtins, custom }: Patterns): () => DlpScanner {
  const key = JSON.stringify([builtins, custom]);
  return () => {
    let scanner = scanners.get(key);
    if (scanner === undefined) {
      scanner = createDlpScanner({ builtin: builtins, custom });
      scanners.set(key, scanner);
    }
    return scanner;
  };
}

/** The patterns of the chosen severities. */
function chosen(
  { builtins, custom }: DlpSettings,
  isChosen: (severity: Severity) => boolean,
): Patterns {
  const all: Record<string, BuiltinOverride> = {};
  for (const { name, severity: standard } of BUILTIN_PATTERNS) {
    const override = Object.hasOwn(builtins, name) ? builtins[name] : undefined;
    const severity = override?.severity ?? standard;
    all[name] = { enabled: (override?.enabled ?? true) && isChosen(severity), severity };
  }
  return { builtins: all, custom: custom.filter(({ severity }) => isChosen(severity)) };
}

/** The actions, mildest first. */
const OUTBOUND_ACTIONS = ['log', 'warn', 'block'] as const;
const RESULT_ACTIONS = ['log', 'redact', 'block'] as const;

/** Used where the bundle has no DLP settings. */
export const DEFAULT_DLP = prepareDlp(DEFAULT_DLP_SETTINGS);

/** The settings and scanners of a bundle. */
export const dlpOf = perSettings(({ dlp }) => (dlp === undefined ? DEFAULT_DLP : prepareDlp(dlp)));

/** The scanners of some settings. */
export function prepareDlp(settings: DlpSettings) {
  const { outbound, results } = settings;
  const isBlocked = (severity: Severity) => actionFor(outbound, severity) === 'block';
  const isCovered = (severity: Severity) => actionFor(outbound, severity) !== 'log';
  const isRedacted = (severity: Severity) => actionFor(results, severity) === 'redact';
  const isActedOn = (severity: Severity) => actionFor(results, severity) !== 'log';
  // Of overlapping values a scan reports only the most severe. Where actions do not get stricter
  // with severity, that may be one that is let through, and hide one that is not.
  const isRising = ranks(outbound, OUTBOUND_ACTIONS) && ranks(results, RESULT_ACTIONS);
  const every = scannerOf(settings);
  const redactor = lazily(() => scannerOf(chosen(settings, isRedacted)));
  const blocker = lazily(() => scannerOf(chosen(settings, isBlocked)));
  const coverer = lazily(() => scannerOf(chosen(settings, isCovered)));
  const graver = lazily(() => scannerOf(chosen(settings, isActedOn)));
  const scan = (value: unknown, grave: () => () => DlpScanner, isGrave: typeof isBlocked) => {
    const found = every().scanValue(value);
    if (isRising) return found;
    const rest = found.filter(({ severity }) => !isGrave(severity));
    return [...grave()().scanValue(value), ...rest];
  };
  const settingsText = lazily(() => JSON.stringify(settings));
  const scanSent = (value: unknown) => scan(value, blocker, isBlocked);
  const matchedIn = (value: unknown): SentScan['matched'] => {
    try {
      const { taken, left, isCut } = coverer()().redactValue(value);
      return isCut ? null : withEscapedForms(marksOfPatterns(new Map([...taken, ...left])));
    } catch (error) {
      // The call was scanned: that its texts cannot be told apart denies nothing.
      if (error instanceof ScanBudgetError || error instanceof PatternBudgetError) return null;
      throw error;
    }
  };
  return {
    settings,
    /** The settings as JSON, for another thread. */
    settingsText,
    get scanner() {
      return every();
    },
    /** Finds only what is redacted in results. */
    get redactor() {
      return redactor()();
    },
    /** The findings in what agents send. */
    scanSent,
    /** The findings in what agents send, with the texts that no record may quote. */
    examineSent(value: unknown): SentScan {
      const findings = scanSent(value);
      const isQuotable = findings.every(({ severity }) => !isCovered(severity));
      return { findings, matched: isQuotable ? NO_MARKS : matchedIn(value) };
    },
    /** The findings in results. */
    scanReceived: (value: unknown): DlpFinding[] => scan(value, graver, isActedOn),
  };
}

/** Whether no severity is treated more strictly than the one above it. */
function ranks<A>(
  { low, medium, high, critical }: { readonly [S in DlpSeverity]: A },
  order: readonly A[],
): boolean {
  const rank = [low, medium, high, critical].map((action) => order.indexOf(action));
  return rank.every((one, i) => i === 0 || one >= (rank[i - 1] ?? 0));
}

/** Created on first use. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
