/** Validates the expression of a tenant's pattern, and tests a pattern on a text. */
import { BUILTIN_PATTERNS } from '@governance/shared/detect/dlp/builtin-patterns';
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { createDlpScanner } from '@governance/shared/detect/dlp/scanner';
import {
  createPatternSet,
  PatternBudgetError,
  PatternSyntaxError,
} from '@governance/shared/detect/engine/pattern-set';
import { AppError } from '@governance/shared/errors';
import type { DlpSeverity } from '@governance/shared/settings/dlp-settings';
import type { DlpPattern } from './dlp-pattern.ts';

/** A finding of a test, without its text. */
export interface TestedFinding {
  pattern: string | null;
  severity: DlpSeverity | null;
  start: number;
  length: number;
  disguise: string[];
}

type Expression = Pick<DlpPattern, 'id' | 'regex'>;

/** A refused field of the body. */
export function invalidField(name: string, msg: string): AppError {
  const errors = [{ loc: ['body', name], msg, type: 'custom' }];
  return new AppError('VALIDATION_FAILED', `body.${name}: ${msg}`, { errors });
}

/**
 * @param others the tenant's other patterns, enabled or not: data planes match all of them in one
 * pass
 * @throws AppError VALIDATION_FAILED for an expression that the engine refuses, with the position
 * of the error, and for one that is too large, alone or together with the others
 */
export function checkPatterns(candidate: Expression, others: readonly Expression[]): void {
  compile([candidate], 'is too large').close();
  const all = [...others, candidate].map(({ id, regex }) => ({ id, regex }));
  compile(all, 'is too large together with the other patterns of the tenant').close();
}

function compile(patterns: readonly Expression[], tooLarge: string) {
  try {
    return createPatternSet(patterns, 'tenant');
  } catch (error) {
    if (error instanceof PatternSyntaxError) {
      throw invalidField('regex', `at character ${error.offset}: ${error.message}`);
    }
    if (error instanceof PatternBudgetError) throw invalidField('regex', tooLarge);
    throw error;
  }
}

/**
 * What a pattern finds in a text, also in disguised form (encoded, for example).
 *
 * @param pattern a stored one, enabled or not, or an expression alone
 * @throws AppError VALIDATION_FAILED as `checkPatterns` does, and where the pattern takes too long
 * on the text
 */
export function tryPattern(pattern: DlpPattern | { regex: string }, text: string): TestedFinding[] {
  const stored = 'id' in pattern ? pattern : undefined;
  const isBuiltin = stored?.patternType === 'builtin';
  const builtin = Object.fromEntries(
    BUILTIN_PATTERNS.map(({ name }) => [name, { enabled: isBuiltin && name === stored.name }]),
  );
  const { id, name, severity } = stored ?? UNSTORED;
  const { regex } = pattern;
  if (!isBuiltin) checkPatterns({ id, regex }, []);
  const scanner = createDlpScanner({
    builtin,
    custom: isBuiltin ? [] : [{ id, name, regex, severity }],
  });
  try {
    return scanner.scanText(text).map(({ start, length, disguise }) => ({
      pattern: stored?.name ?? null,
      severity: stored?.severity ?? null,
      start,
      length,
      disguise: [...(disguise ?? [])],
    }));
  } catch (error) {
    if (error instanceof ScanBudgetError) {
      throw invalidField('text', 'the text takes too long to scan: data planes deny such a call');
    }
    if (!(error instanceof PatternBudgetError)) throw error;
    throw invalidField(
      'text',
      'the pattern takes too long on this text: data planes deny such a call',
    );
  } finally {
    scanner.close();
  }
}

const UNSTORED = { id: 'unstored', name: 'unstored', severity: 'low' } as const;
