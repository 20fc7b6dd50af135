/** The policies that a new tenant starts with, from policies/rego/baseline. */
import { readFileSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';

/** A policy as it is stored for a tenant; the fields are those of the policy record. */
export interface BaselinePolicy {
  name: string;
  description: string;
  rego_content: string;
}

const BASELINE = [
  {
    file: 'permissions',
    name: 'Permissions',
    description: 'An agent may make the calls that one of its permissions covers.',
  },
  {
    file: 'destructive_calls',
    name: 'Destructive calls',
    description: 'A person decides what a high-risk agent may delete.',
  },
  {
    file: 'critical_risk',
    name: 'Critical risk',
    description: 'An agent of critical risk may only read.',
  },
  {
    file: 'local_models',
    name: 'Local models',
    description: 'Using a local model needs web:read and web:write; listing models needs web:read.',
  },
] as const;

/**
 * Reads the baseline pack, in the order in which an administrator should see it.
 *
 * @throws Error when a file of the installation is missing
 */
export function baselinePack(): BaselinePolicy[] {
  return BASELINE.map(({ file, name, description }) => ({
    name,
    description,
    rego_content: readFileSync(assetPath(`policies/rego/baseline/${file}.rego`), 'utf8'),
  }));
}
