/**
 * DLP patterns and the actions on findings. A change is published in the bundle's settings, and the
 * request is answered once it is enforced.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { DlpSettings } from '@governance/shared/settings/dlp-settings';
import { DLP_LIMITS } from '@governance/shared/settings/dlp-settings';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { formerValues } from '../platform/admin-details.ts';
import { isUniqueViolation } from '../platform/database/database.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import {
  type DlpPattern,
  findBuiltinName,
  isBuiltinName,
  listBuiltins,
  toSetting,
} from './dlp-pattern.ts';
import type {
  NewPatternBody,
  PatternPatchBody,
  PatternTestBody,
  SettingsPatchBody,
} from './dlp-schemas.ts';
import { type DlpRow, dlpStore } from './dlp-store.ts';
import { checkPatterns, invalidField, type TestedFinding, tryPattern } from './pattern-check.ts';

export interface DlpServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
  now(): Date;
}

export type DlpService = ReturnType<typeof createDlpService>;

/** The settings for data planes: the enabled patterns, and the actions on findings. */
export async function readDlpSettings(tx: TenantTransaction): Promise<DlpSettings> {
  const { actions, builtins } = await dlpStore(tx).readRow();
  const custom = (await dlpStore(tx).list()).filter(({ enabled }) => enabled).map(toSetting);
  return { ...actions, builtins, custom };
}

/**
 * The names of all patterns of the tenant, where one of them in several sessions of an agent is an
 * alert; null where it is none.
 */
export async function patternsAcrossSessions(
  tx: TenantTransaction,
): Promise<ReadonlySet<string> | null> {
  const { actions, builtins } = await dlpStore(tx).readRow();
  if (!actions.cross_session) return null;
  const all = [...listBuiltins(builtins), ...(await dlpStore(tx).list())];
  return new Set(all.map(({ name }) => name));
}

export function createDlpService({ db, bundles, applied, now }: DlpServiceDeps) {
  /** Commits a change, builds the bundle, and returns when the bundle is applied. */
  async function commit<T>(
    scope: TenantScope,
    work: (tx: TenantTransaction, row: DlpRow) => Promise<T>,
  ): Promise<T> {
    const { result } = await db.inTenantWithHeads(scope, async (tx) =>
      work(tx, await dlpStore(tx).readRowForUpdate()),
    );
    const { revision, feedSeq } = await bundles.requestBuild(scope.tenantId);
    await applied.wait(scope.tenantId, {
      bundleRevision: revision,
      ...(feedSeq === undefined ? {} : { feedSeq }),
    });
    return result;
  }

  async function find(tx: TenantTransaction, id: string, row: DlpRow): Promise<DlpPattern> {
    const name = findBuiltinName(id);
    const found = name
      ? listBuiltins(row.builtins).find((builtin) => builtin.name === name)
      : await dlpStore(tx).find(id);
    if (!found) throw new AppError('DLP_PATTERN_NOT_FOUND');
    return found;
  }

  return {
    /** The built-in ones first. */
    list: (scope: TenantScope): Promise<DlpPattern[]> =>
      db.inTenant(scope, async (tx) => {
        const { builtins } = await dlpStore(tx).readRow();
        return [...listBuiltins(builtins), ...(await dlpStore(tx).list())];
      }),

    create: (scope: TenantScope, body: NewPatternBody): Promise<DlpPattern> =>
      commit(scope, async (tx) => {
        const others = await dlpStore(tx).list();
        if (others.length >= DLP_LIMITS.patterns) throw new AppError('DLP_PATTERN_LIMIT_REACHED');
        requireFreeName(body.name);
        const at = now();
        const created: DlpPattern = {
          ...body,
          id: uuidv7(at.getTime()),
          patternType: 'custom',
          createdAt: at,
        };
        checkPatterns(created, others);
        await dlpStore(tx).insert(created).catch(refuseDuplicate);
        tx.audit.append(auditOf('dlp_pattern_created', created));
        return created;
      }),

    change: (scope: TenantScope, id: string, body: PatternPatchBody): Promise<DlpPattern> =>
      commit(scope, async (tx, row) => {
        const before = await find(tx, id, row);
        const after = { ...before, ...withoutUndefined(body) };
        if (before.patternType === 'builtin') {
          refuseOtherFields(body);
          const { enabled, severity } = { ...row.builtins[before.name], ...withoutUndefined(body) };
          await dlpStore(tx).writeBuiltins({
            ...row.builtins,
            [before.name]: withoutUndefined({ enabled, severity }),
          });
        } else {
          if (body.name !== undefined) requireFreeName(body.name);
          const others = (await dlpStore(tx).list()).filter((other) => other.id !== before.id);
          if (body.regex !== undefined) checkPatterns(after, others);
          await dlpStore(tx).update(after, now()).catch(refuseDuplicate);
        }
        const { action, target, details } = auditOf('dlp_pattern_updated', after);
        const replaced = formerValues(auditOf(action, before).details, details);
        tx.audit.append({ action, target, details: { ...details, before: replaced } });
        return after;
      }),

    delete: (scope: TenantScope, id: string): Promise<void> =>
      commit(scope, async (tx, row) => {
        const found = await find(tx, id, row);
        if (found.patternType === 'builtin') throw new AppError('DLP_PATTERN_BUILTIN');
        await dlpStore(tx).delete(found.id);
        tx.audit.append(auditOf('dlp_pattern_deleted', found));
      }),

    /** Tests a pattern on a text. Nothing of the text is stored. */
    async test(scope: TenantScope, { regex, id, text }: PatternTestBody): Promise<TestedFinding[]> {
      if (id === undefined) return tryPattern({ regex: regex ?? '' }, text);
      const pattern = await db.inTenant(scope, async (tx) =>
        find(tx, id, await dlpStore(tx).readRow()),
      );
      return tryPattern(pattern, text);
    },

    readSettings: (scope: TenantScope): Promise<DlpRow> =>
      db.inTenant(scope, (tx) => dlpStore(tx).readRow()),

    changeSettings: (scope: TenantScope, body: SettingsPatchBody): Promise<DlpRow> =>
      commit(scope, async (tx, row) => {
        const updatedAt = now();
        const { outbound, results, ...switches } = body;
        const actions = {
          ...row.actions,
          ...withoutUndefined(switches),
          outbound: { ...row.actions.outbound, ...withoutUndefined(outbound ?? {}) },
          results: { ...row.actions.results, ...withoutUndefined(results ?? {}) },
        };
        await dlpStore(tx).writeActions(actions, updatedAt);
        tx.audit.append({
          action: 'dlp_settings_updated',
          target: 'dlp/settings',
          details: { ...actions, before: formerValues(row.actions, actions) },
        });
        return { ...row, actions, updatedAt };
      }),
  };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Omitted fields change nothing. */
function withoutUndefined<T extends object>(body: T): Given<T> {
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  ) as Given<T>;
}

function requireFreeName(name: string): void {
  if (isBuiltinName(name)) throw duplicate('A built-in DLP pattern has this name.');
}

function refuseDuplicate(error: unknown): never {
  if (!isUniqueViolation(error)) throw error;
  throw duplicate('A DLP pattern with this name already exists.', error);
}

function duplicate(detail: string, cause?: unknown): AppError {
  return new AppError('DUPLICATE_NAME', detail, { cause });
}

function refuseOtherFields(body: PatternPatchBody): void {
  for (const name of ['name', 'regex', 'description'] as const) {
    if (body[name] !== undefined)
      throw invalidField(name, 'cannot be changed in a built-in pattern');
  }
}

function auditOf(action: string, pattern: DlpPattern) {
  const { id, name, patternType, regex, severity, enabled } = pattern;
  return {
    action,
    target: `dlp_pattern/${id}`,
    details: {
      name,
      pattern_type: patternType,
      severity,
      enabled,
      ...(patternType === 'custom' && { regex }),
    },
  };
}
