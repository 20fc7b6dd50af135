/**
 * What a passage may speak of, in any language. A lexicon maps each language's words to these, and
 * the model weighs them and their pairs: what it learns in one language holds in all. The order is
 * part of the model's format: a change needs `npm run inbound:train`.
 */
import type { InboundClass } from '../findings.ts';

/** Concepts that words name. */
export const LEXICAL_CONCEPTS = [
  // What an attack asks for.
  'override', // to ignore, to bypass
  'instructions', // rules, guidelines, restrictions
  'previous',
  'ai', // an assistant or a model is spoken to or of
  'agent', // weaker: agent, bot, assistant
  'you',
  'the-user', // the reader's user or client, spoken of as a third person
  'secrecy', // do not tell
  'unconfirmed', // without asking, skip the check
  'secret', // keys, passwords, private data
  'system-prompt',
  'send',
  'reveal',
  'recipient', // to the following address, to an external server
  'destroy',
  'everything', // all files, the whole database
  'execute',
  'tool',
  'role', // you are now, act as
  'persona', // developer mode, unrestricted
  'from-now',
  'authority', // the administrator, the developer
  'approved', // has approved, is authorised
  'access', // full access, admin rights
  'grant', // to give, to raise
  'urgent',
  'threat', // otherwise, will be lost
  'heed', // attention, important note
  'must',
  'reply', // before you answer, in your summary
  'decode',
  'obey', // follow these
  'assurance', // this is safe, this is a test
  'money',
  'safeguard', // logging, filters, monitoring
  'remember', // for all future conversations
  // What ordinary texts speak of.
  'security-talk',
  'test-data', // fixtures, filters and what they match, collections of prompts
  'quoting',
  'manual',
  'letter', // dear, kind regards
  'legal',
  'narrative', // he said, she whispered
  'never', // prohibitions that protect
  'we',
  'please',
  'people', // users, staff, members
  'tool-doc', // returns, parameter, use this when
  'may', // can, is able to
  // Words of this list backwards and in rot13, which make the text be read that way too.
  'backwards',
  'rot13',
] as const;

/** Concepts that the form of a text shows. */
export const FORMAL_CONCEPTS = [
  'quoted', // what an attack asks for stands between quotation marks
  'hidden', // in a comment or in markup that is not shown
  'link',
  'address', // an e-mail address
  'identifier', // a_name_with_underscores
  'tool-name', // an identifier that says what a tool does: delete_user
  'sensitive-path', // ~/.ssh, .env
  'shell', // rm -rf, curl … | sh
  'marker', // <|im_start|>, [INST], ### System
  'turn', // the user or the assistant speaks: "role": "user", Nutzer:
  'call', // a call of a tool or its result: <tool_call>, "arguments": {
  'slot', // a link that is to be filled in: ](https://…?q={…}
  'decoded', // the text stood there in disguise
  'disguised', // words with digits for letters, or in mixed alphabets
  'opens-with-order', // the sentence begins with what to do
  'question',
  'description', // the text is a tool's own description
] as const;

export const CONCEPTS = [...LEXICAL_CONCEPTS, ...FORMAL_CONCEPTS] as const;
export type Concept = (typeof CONCEPTS)[number];
export type LexicalConcept = (typeof LEXICAL_CONCEPTS)[number];

const numbers = new Map<string, number>(CONCEPTS.map((name, index) => [name, index]));

/** The number of a concept: its place in `CONCEPTS`. */
export function conceptNumber(name: Concept): number {
  return numbers.get(name) ?? 0;
}

/** The class that a concept indicates. A concept that is not listed indicates none. */
export const CLASS_OF_CONCEPT: Partial<Record<Concept, InboundClass>> = {
  override: 'imperative_command',
  send: 'imperative_command',
  reveal: 'imperative_command',
  destroy: 'imperative_command',
  execute: 'imperative_command',
  secrecy: 'imperative_command',
  obey: 'imperative_command',
  reply: 'imperative_command',
  money: 'imperative_command',
  remember: 'imperative_command',
  'system-prompt': 'imperative_command',
  secret: 'imperative_command',
  authority: 'authority_claim',
  approved: 'authority_claim',
  assurance: 'authority_claim',
  access: 'permission_expansion',
  grant: 'permission_expansion',
  unconfirmed: 'permission_expansion',
  safeguard: 'permission_expansion',
  role: 'role_reassignment',
  persona: 'role_reassignment',
  'from-now': 'role_reassignment',
  decode: 'encoded_payload',
  decoded: 'encoded_payload',
  disguised: 'encoded_payload',
  marker: 'structured_escalation',
  turn: 'structured_escalation',
  call: 'structured_escalation',
  slot: 'structured_escalation',
  urgent: 'urgency_framing',
  threat: 'urgency_framing',
};

/** A passage without any of these asks for nothing, and is not scored. */
export const ASKING_CONCEPTS: readonly Concept[] = [
  ...(Object.keys(CLASS_OF_CONCEPT) as Concept[]),
  'ai',
  'unconfirmed',
  'shell',
  'tool',
];
