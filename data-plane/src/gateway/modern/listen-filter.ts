/** The filter of `subscriptions/listen`: the changes that a client asks for. */
import { z } from 'zod';
import { isObject } from '../../upstream/message.ts';
import { badParams } from '../call-routing.ts';

const MAX_URIS = 1000;

const Filter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).max(MAX_URIS).optional(),
});
export type Filter = z.infer<typeof Filter>;

const CHANGES = {
  toolsListChanged: { capability: 'tools', method: 'notifications/tools/list_changed' },
  promptsListChanged: { capability: 'prompts', method: 'notifications/prompts/list_changed' },
  resourcesListChanged: { capability: 'resources', method: 'notifications/resources/list_changed' },
} as const;
type Change = keyof typeof CHANGES;

export function readFilter(params: Record<string, unknown>): Filter {
  const parsed = Filter.safeParse(params.notifications);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = ['notifications', ...(issue?.path ?? [])].join('.');
  throw badParams(`${path}: ${issue?.message ?? 'malformed'}`);
}

/** What of a filter the servers of the path can report. */
export interface Offered {
  /** The changes of lists, as members of the filter that is acknowledged. */
  changes: Filter;
  /** The notifications by which these changes are announced. */
  methods: ReadonlySet<string>;
  uris: string[];
}

export function offeredOf(wanted: Filter, capabilities: Record<string, unknown>): Offered {
  const can = (name: string, what: string) => {
    const capability = capabilities[name];
    return isObject(capability) && capability[what] === true;
  };
  const changes = (Object.keys(CHANGES) as Change[]).filter(
    (name) => wanted[name] === true && can(CHANGES[name].capability, 'listChanged'),
  );
  return {
    changes: Object.fromEntries(changes.map((name) => [name, true])),
    methods: new Set(changes.map((name) => CHANGES[name].method)),
    uris: can('resources', 'subscribe') ? [...new Set(wanted.resourceSubscriptions)] : [],
  };
}
