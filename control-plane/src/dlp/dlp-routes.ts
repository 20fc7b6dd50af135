/**
 * /api/v1/dlp: specification 1, section 4, with two additions (settings, and a test of patterns).
 */
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
            'The expression is matched in linear time: look-around and back-references are not supported. The answer comes once data planes apply it.',
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
          description: 'Only `enabled` and `severity` of a built-in pattern can be changed.',
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
          description: 'Returns the places of matches. The text is neither stored nor repeated.',
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
          summary: 'The actions on findings',
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
          summary: 'Change the actions on findings',
          description:
            'By severity and direction. Omitted fields stay unchanged. A critical finding on its way to a server is always blocked.',
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
