/** The members of a decision that may repeat content of its call. */
export interface ContentMembers {
  readonly target: string;
  readonly policy_reason: string | null;
  readonly requester_id: string | null;
}

/** Their names, in the order in which `protected_fields` lists them. */
export const CONTENT_MEMBERS = [
  'target',
  'policy_reason',
  'requester_id',
] as const satisfies readonly (keyof ContentMembers)[];

/** The same members as they may be recorded, and which of them were changed. */
export interface ProtectedMembers extends ContentMembers {
  readonly protected_fields: (keyof ContentMembers)[];
}
