/**
 * A tenant's settings for the inspection of results and for administrators' own work, with
 * defaults. The whole settings are stored at each change; before the first, the defaults apply.
 */
import { DEFAULT_HOLD_SETTINGS, HoldMinutes } from '@governance/shared/settings/hold-settings';
import {
  DEFAULT_INBOUND_ACTIONS,
  InboundAction,
} from '@governance/shared/settings/inbound-settings';
import { z } from 'zod';
import { SessionSettings, SessionSettingsPatch, SessionSettingsView } from './session-settings.ts';

const { low, medium, high, critical } = DEFAULT_INBOUND_ACTIONS;
const { timeout_minutes: minutes } = DEFAULT_HOLD_SETTINGS;

/** As stored: a missing member has its default. */
export const TenantSettings = z.object({
  inbound: z
    .object({
      actions: z
        .object({
          low: InboundAction.default(low),
          medium: InboundAction.default(medium),
          high: InboundAction.default(high),
          critical: InboundAction.default(critical),
        })
        .prefault({}),
      /** Null: as `actions`. */
      untrusted_actions: z
        .object({
          low: InboundAction,
          medium: InboundAction,
          high: InboundAction,
          critical: InboundAction,
        })
        .nullable()
        .default(null),
    })
    .prefault({}),
  pinned_tools: z.object({ require_approval: z.boolean().default(false) }).prefault({}),
  policies: z.object({ require_change_requests: z.boolean().default(false) }).prefault({}),
  holds: z
    .object({
      timeout_minutes: z
        .object({
          low: HoldMinutes.default(minutes.low),
          medium: HoldMinutes.default(minutes.medium),
          high: HoldMinutes.default(minutes.high),
          critical: HoldMinutes.default(minutes.critical),
        })
        .prefault({}),
    })
    .prefault({}),
  sessions: SessionSettings,
});
export type TenantSettings = z.infer<typeof TenantSettings>;

/** A PATCH may name any part. */
export const TenantSettingsPatch = z.strictObject({
  inbound: z
    .strictObject({
      actions: z
        .strictObject({
          low: InboundAction.optional(),
          medium: InboundAction.optional(),
          high: InboundAction.optional(),
          critical: InboundAction.optional(),
        })
        .optional(),
      /** Members that it omits become those of `actions` at the first change. */
      untrusted_actions: z
        .strictObject({
          low: InboundAction.optional(),
          medium: InboundAction.optional(),
          high: InboundAction.optional(),
          critical: InboundAction.optional(),
        })
        .nullable()
        .optional(),
    })
    .optional(),
  pinned_tools: z.strictObject({ require_approval: z.boolean().optional() }).optional(),
  policies: z.strictObject({ require_change_requests: z.boolean().optional() }).optional(),
  holds: z
    .strictObject({
      timeout_minutes: z
        .strictObject({
          low: HoldMinutes.optional(),
          medium: HoldMinutes.optional(),
          high: HoldMinutes.optional(),
          critical: HoldMinutes.optional(),
        })
        .optional(),
    })
    .optional(),
  sessions: SessionSettingsPatch.optional(),
});
export type TenantSettingsPatch = z.infer<typeof TenantSettingsPatch>;

export const TenantSettingsView = z
  .object({
    inbound: z.object({
      actions: z.object({
        low: InboundAction,
        medium: InboundAction,
        high: InboundAction,
        critical: InboundAction,
      }),
      /** For sources that a rule calls untrusted; null: as `actions`. */
      untrusted_actions: z
        .object({
          low: InboundAction,
          medium: InboundAction,
          high: InboundAction,
          critical: InboundAction,
        })
        .nullable(),
    }),
    pinned_tools: z.object({
      /** A tool whose definition has changed is neither listed nor called until it is approved. */
      require_approval: z.boolean(),
    }),
    policies: z.object({
      /** Active policies change only by change requests. */
      require_change_requests: z.boolean(),
    }),
    holds: z.object({
      /** How long a call waits for a person, by the risk tier of its agent. */
      timeout_minutes: z.object({
        low: z.int(),
        medium: z.int(),
        high: z.int(),
        critical: z.int(),
      }),
    }),
    sessions: SessionSettingsView,
  })
  .meta({ id: 'TenantSettings' });

/** The settings after a PATCH. */
export function changedSettings(before: TenantSettings, patch: TenantSettingsPatch) {
  const actions = { ...before.inbound.actions, ...patch.inbound?.actions };
  const untrusted = patch.inbound?.untrusted_actions;
  const untrusted_actions = untrusted && {
    ...(before.inbound.untrusted_actions ?? actions),
    ...untrusted,
  };
  return TenantSettings.parse({
    inbound: {
      actions,
      untrusted_actions:
        untrusted === undefined ? before.inbound.untrusted_actions : untrusted_actions,
    },
    pinned_tools: { ...before.pinned_tools, ...patch.pinned_tools },
    policies: { ...before.policies, ...patch.policies },
    holds: {
      timeout_minutes: { ...before.holds.timeout_minutes, ...patch.holds?.timeout_minutes },
    },
    sessions: { ...before.sessions, ...patch.sessions },
  });
}
