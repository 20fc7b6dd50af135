/**
 * A DLP pattern as administrators see it: a built-in one with the tenant's settings, or one of the
 * tenant's own.
 */
import { hash } from 'node:crypto';
import { BUILTIN_PATTERNS, shownExpression } from '@governance/shared/detect/dlp/builtin-patterns';
import {
  type BuiltinOverride,
  type CustomPattern,
  DlpSeverity,
} from '@governance/shared/settings/dlp-settings';

export interface DlpPattern {
  id: string;
  name: string;
  patternType: 'builtin' | 'custom';
  regex: string;
  severity: DlpSeverity;
  enabled: boolean;
  description: string;
  createdAt: Date;
}

/** When the built-in patterns were introduced. */
const BUILTIN_SINCE = new Date('2026-11-23T00:00:00.000Z');

/** The id of a built-in pattern: the same in every tenant and version (a UUID of version 8). */
function builtinId(name: string): string {
  const hex = hash('sha256', `dlp builtin ${name}`, 'hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

const BUILTINS = new Map(BUILTIN_PATTERNS.map((pattern) => [builtinId(pattern.name), pattern]));
const BUILTIN_NAMES = new Set(BUILTIN_PATTERNS.map(({ name }) => name));

/** Whether a name is a built-in pattern's. */
export function isBuiltinName(name: string): boolean {
  return BUILTIN_NAMES.has(name);
}

/** The name of the built-in pattern that has this id. */
export function findBuiltinName(id: string): string | undefined {
  return BUILTINS.get(id.toLowerCase())?.name;
}

/** The built-in patterns in their order, with the tenant's settings. */
export function listBuiltins(overrides: Readonly<Record<string, BuiltinOverride>>): DlpPattern[] {
  return [...BUILTINS].map(([id, builtin]) => {
    const { name, severity, description } = builtin;
    const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined;
    return {
      id,
      name,
      patternType: 'builtin',
      regex: shownExpression(builtin),
      severity: override?.severity ?? DlpSeverity.parse(severity),
      enabled: override?.enabled ?? true,
      description,
      createdAt: BUILTIN_SINCE,
    };
  });
}

/** One of the tenant's own patterns, as data planes get it. */
export function toSetting({ id, name, regex, severity }: DlpPattern): CustomPattern {
  return { id, name, regex, severity };
}
