import { expect, it } from 'vitest';
import { asksForDryRun } from '../call/tool-action.ts';
import { findDryRunArguments } from './dry-run.ts';

const schema = (properties: object) => ({ type: 'object', properties });
const boolean = { type: 'boolean' };

it('finds the argument that a tool declares', () => {
  expect(findDryRunArguments(schema({ sql: { type: 'string' }, dry_run: boolean }))).toEqual([
    'dry_run',
  ]);
  expect(findDryRunArguments(schema({ dryRun: boolean }))).toEqual(['dryRun']);
});

it.each([
  undefined,
  null,
  'dry_run',
  {},
  schema({ sql: { type: 'string' } }),
  schema({ dry_run: { type: 'string' } }),
  schema({ dry_run: true }),
  { properties: null },
])('finds none in %o', (input) => expect(findDryRunArguments(input)).toBeUndefined());

it('counts only one that is declared, and true', () => {
  const hints = { dryRun: ['dry_run'] };
  expect(asksForDryRun({ dry_run: true }, hints)).toBe(true);
  expect(asksForDryRun({ dry_run: 'true' }, hints)).toBe(false);
  expect(asksForDryRun({ dry_run: false }, hints)).toBe(false);
  expect(asksForDryRun({ dryRun: true }, hints)).toBe(false);
  expect(asksForDryRun({ dry_run: true }, {})).toBe(false);
  expect(asksForDryRun({ dry_run: true }, undefined)).toBe(false);
});
