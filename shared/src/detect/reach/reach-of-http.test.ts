/** Requests over HTTP, and documents of GraphQL, in the arguments of a tool. */
import { describe, expect, it } from 'vitest';
import { createReach } from '../../testing/test-reach.ts';
import { DEFAULT_BLAST_RADIUS } from './blast-radius-settings.ts';

const reachOf = createReach(DEFAULT_BLAST_RADIUS);
const people = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ email: `p${i}@example.com` }));
const mail = (count: number) => JSON.stringify({ personalizations: [{ to: people(count) }] });
const url = 'https://api.example.com/v3/mail/send';

describe('a request over HTTP', () => {
  it.each([
    ['POST'],
    ['put'],
    ['PATCH'],
  ])('by %s changes something, whatever its tool', (method) => {
    expect(reachOf('fetch', 'read', { url, method, body: mail(60) })).toEqual([
      'escalate email_recipients',
    ]);
    expect(reachOf('http_request', 'execute', { url, method, body: mail(60) })).toEqual([
      'escalate email_recipients',
    ]);
    expect(reachOf('fetch', 'read', { url, method, body: mail(5) })).toEqual([]);
  });

  it('by DELETE deletes, whatever its tool', () => {
    const path = 'https://api.example.com/v1/projects/*';
    expect(reachOf('fetch', 'read', { url: path, method: 'DELETE' })).not.toEqual([]);
  });

  it.each([
    [{ url, method: 'GET', body: mail(60) }],
    [{ url }],
    [{ url: 'https://es.example.com/orders/_search', method: 'POST', body: mail(60) }],
  ])('that reads stays one that reads', (args) => {
    expect(reachOf('fetch', 'read', args)).toEqual([]);
  });
});

describe('a mutation of GraphQL', () => {
  const asks = (query: string) => reachOf('graphql', 'execute', { query });

  it.each([
    'mutation { projectDelete(id: "b7e1") }',
    'mutation Clean($id: String!) { volumeDelete(volumeId: $id) { ok } }',
    'mutation { deleteRepository(input: {repositoryId: "r1"}) { clientMutationId } }',
  ])('that deletes a whole store escalates: %s', (query) => {
    expect(asks(query)).toContain('escalate delete_whole');
    const body = JSON.stringify({ query });
    expect(
      reachOf('request', 'execute', { url: 'https://x.example.com/graphql', method: 'POST', body }),
    ).toContain('escalate delete_whole');
  });

  it.each([
    'mutation { deleteComment(id: "c1") { ok } }',
    'mutation { removeLabelFromProject(id: "p1", label: "x") { ok } }',
    'query { project(id: "deleteProject(") { name } }',
    'mutation { addNote(text: "deleteProject(id: 1)") { id } }',
    'mutation DeleteProject($id: ID!) { archiveNote(id: $id) { id } }',
  ])('that deletes less passes: %s', (query) => {
    expect(asks(query)).toEqual([]);
  });
});

it('words that empty a database do so under any name', () => {
  expect(reachOf('raw', 'execute', { args: ['flushall', 'ASYNC'] })).toContain(
    'deny sql_without_where',
  );
  expect(reachOf('raw', 'execute', { args: ['get', 'flushall'] })).toEqual([]);
});

it('tokens of devices are recipients of what is pushed', () => {
  const device_tokens = Array.from({ length: 95 }, (_, i) => `b97809c299ca6d${i}`);
  expect(reachOf('push', 'execute', { payload: { target: { device_tokens } } })).toEqual([
    'escalate email_recipients',
  ]);
});
