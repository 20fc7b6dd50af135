/** /api/v1/dlp: specification 1, section 4, and what it does not show (settings, a trial). */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  NewPatternBody,
  PatternListView,
  PatternParams,
  PatternPatchBody,
  PatternTestBody,
  PatternTestView,
  PatternView,
  SettingsPatchBody,
  SettingsView,
  toPatternView,
  toSettingsView,
} from './dlp-schemas.ts';
import type { DlpService } from './dlp-service.ts';

const tags = ['dlp'];
const config = { guard: 'admin' } as const;

export const dlpRoutes =
  (dlp: DlpService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/dlp/patterns',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The patterns for sensitive data',
          description: 'The built-in ones first, then the tenant’s own by name.',
          tags,
          response: { 200: PatternListView },
        },
      },
      async ({ scope }) => {
        const patterns = (await dlp.list(scope)).map(toPatternView);
        return { patterns, total: patterns.length };
      },
    );

    app.post(
      '/api/v1/dlp/patterns',
      {
        config,
        schema: {
          summary: 'Add a pattern',
          description:
            'The expression is matched in linear time: it has no look-around and no back-references. The answer comes when data planes look for it.',
          tags,
          body: NewPatternBody,
          response: { 201: PatternView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) =>
        reply.code(201).send(toPatternView(await dlp.create(scope, body))),
    );

    app.patch(
      '/api/v1/dlp/patterns/:pattern_id',
      {
        config,
        schema: {
          summary: 'Change a pattern, or switch it off',
          description: 'Of a built-in pattern `enabled` and `severity` can be changed.',
          tags,
          params: PatternParams,
          body: PatternPatchBody,
          response: { 200: PatternView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toPatternView(await dlp.change(scope, params.pattern_id, body)),
    );

    app.delete(
      '/api/v1/dlp/patterns/:pattern_id',
      {
        config,
        schema: {
          summary: 'Remove a pattern of the tenant’s own',
          tags,
          params: PatternParams,
          response: { 204: NoContent, 409: ErrorBody },
        },
      },
      async ({ scope, params }, reply) => {
        await dlp.delete(scope, params.pattern_id);
        return reply.code(204).send();
      },
    );

    app.post(
      '/api/v1/dlp/patterns/test',
      {
        config,
        schema: {
          summary: 'Try a pattern on a text',
          description: 'Says where something was found. Nothing of the text is stored or repeated.',
          tags,
          body: PatternTestBody,
          response: { 200: PatternTestView },
        },
      },
      async ({ scope, body }) => {
        const findings = await dlp.test(scope, body);
        return { findings, total: findings.length };
      },
    );

    app.get(
      '/api/v1/dlp/settings',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'What is done about findings',
          tags,
          response: { 200: SettingsView },
        },
      },
      async ({ scope }) => {
        const { actions, updatedAt } = await dlp.readSettings(scope);
        return toSettingsView(actions, updatedAt);
      },
    );

    app.patch(
      '/api/v1/dlp/settings',
      {
        config,
        schema: {
          summary: 'Change what is done about findings',
          description:
            'By severity and direction. What is not given stays. A critical finding on its way to a server is always blocked.',
          tags,
          body: SettingsPatchBody,
          response: { 200: SettingsView },
        },
      },
      async ({ scope, body }) => {
        const { actions, updatedAt } = await dlp.changeSettings(scope, body);
        return toSettingsView(actions, updatedAt);
      },
    );
  };
