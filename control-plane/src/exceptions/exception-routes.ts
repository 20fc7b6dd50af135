/** Specification 1, section 4: "Policies, change requests, exceptions". */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  ExceptionList,
  ExceptionParams,
  ExceptionQuery,
  ExceptionView,
  ExtensionBody,
  NewExceptionBody,
  ReviewBody,
  toExceptionView,
  toNewException,
} from './exception-schemas.ts';
import type { ExceptionService } from './exception-service.ts';

const tags = ['exceptions'];
const PATH = '/api/v1/exceptions';
const manage = { guard: 'admin', use: 'manage' } as const;
const resolve = { guard: 'admin', use: 'resolve' } as const;
const read = { guard: 'admin', use: 'read' } as const;

export const exceptionRoutes =
  (exceptions: ExceptionService, now: () => Date): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      PATH,
      {
        config: read,
        schema: {
          summary: 'Exceptions, newest first: the active ones unless another status is asked for',
          tags,
          querystring: ExceptionQuery,
          response: { 200: ExceptionList },
        },
      },
      async ({ scope, query: { status, agent_id: agentId, ...page } }) => {
        const { exceptions: found, total } = await exceptions.list(
          scope,
          { status, agentId },
          page,
        );
        const at = now();
        return { exceptions: found.map((one) => toExceptionView(one, at)), total };
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: read,
        schema: {
          summary: 'An exception',
          tags,
          params: ExceptionParams,
          response: { 200: ExceptionView },
        },
      },
      async ({ scope, params }) => toExceptionView(await exceptions.get(scope, params.id), now()),
    );

    app.post(
      PATH,
      {
        config: manage,
        schema: {
          summary: 'Make an exception',
          description:
            'It lifts escalations of its shape, or (`lifts: deny`, with agent and policy, at most 720 hours) what one policy denies one agent. The latter is pending until somebody else approves it, if the tenant’s policies change only by change requests.',
          tags,
          body: NewExceptionBody,
          response: { 201: ExceptionView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) => {
        const made = await exceptions.create(scope, toNewException(body));
        return reply.code(201).send(toExceptionView(made, now()));
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: manage,
        schema: {
          summary: 'Revoke an exception; its row stays',
          tags,
          params: ExceptionParams,
          response: { 204: NoContent, 409: ErrorBody },
        },
      },
      async ({ scope, params }, reply) => {
        await exceptions.revoke(scope, params.id);
        return reply.code(204).send(undefined);
      },
    );

    app.patch(
      `${PATH}/:id/extend`,
      {
        config: manage,
        schema: {
          summary: 'Let an exception last longer',
          tags,
          params: ExceptionParams,
          body: ExtensionBody,
          response: { 200: ExceptionView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toExceptionView(await exceptions.extend(scope, params.id, body.hours), now()),
    );

    app.post(
      `${PATH}/:id/approve`,
      {
        config: resolve,
        schema: {
          summary: 'Approve an exception that waits for a second person',
          tags,
          params: ExceptionParams,
          body: ReviewBody,
          response: { 200: ExceptionView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toExceptionView(await exceptions.approve(scope, params.id, body?.notes ?? null), now()),
    );

    app.post(
      `${PATH}/:id/reject`,
      {
        config: resolve,
        schema: {
          summary: 'Reject an exception that waits for a second person, or withdraw your own',
          tags,
          params: ExceptionParams,
          body: ReviewBody,
          response: { 200: ExceptionView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toExceptionView(await exceptions.reject(scope, params.id, body?.notes ?? null), now()),
    );
  };
