import type { Secret } from '@governance/shared/settings';
import type { Feature } from '../platform/feature.ts';
import { alertProjection } from './alert-projection.ts';
import { alertRoutes } from './alert-routes.ts';
import { type AlertServiceDeps, createAlertService } from './alert-service.ts';
import { type AlertWebhookDeps, createAlertWebhook } from './alert-webhook.ts';

const DELIVER_EVERY_MS = 1_000;

export interface AlertsCore
  extends AlertServiceDeps,
    Omit<AlertWebhookDeps, 'url' | 'secret' | 'minSeverity'> {
  db: AlertServiceDeps['db'] & AlertWebhookDeps['db'];
  config: {
    webhookUrl?: AlertWebhookDeps['url'] | undefined;
    webhookSecret?: Secret | undefined;
    webhookMinSeverity: AlertWebhookDeps['minSeverity'];
  };
}

export function alertsFeature(core: AlertsCore): Feature {
  const { webhookUrl: url, webhookSecret: secret, webhookMinSeverity: minSeverity } = core.config;
  const webhook = url && secret && createAlertWebhook({ ...core, url, secret, minSeverity });
  return {
    routes: [alertRoutes(createAlertService(core))],
    tasks: webhook ? [{ name: 'alert_webhook', everyMs: DELIVER_EVERY_MS, run: webhook.run }] : [],
    projections: [alertProjection],
  };
}
