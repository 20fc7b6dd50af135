/** What is read from a text, and which concepts are inspected meanwhile. */
import { CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import type { Wording } from './wording.ts';

export interface Passage {
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** Numbers of concepts, without duplicates, in order of appearance. */
  readonly concepts: readonly number[];
  readonly wording: Wording;
}

export interface Reading {
  readonly passages: readonly Passage[];
  /** Where single letters stood one after another: `i g n o r e`. */
  readonly spelled: readonly { readonly start: number; readonly end: number }[];
  /** Whether it holds words backwards, or in rot13. */
  readonly isBackwards: boolean;
  readonly isRot13: boolean;
  /** Whether words hold invisible characters, or letters that only look like Latin ones. */
  readonly isOdd: boolean;
  /** Whether it holds numbers in a row that may be codes of characters. */
  readonly holdsCodes: boolean;
}

export const NO_CONCEPTS: readonly number[] = [];
export const NOTHING_READ: Reading = {
  passages: [],
  spelled: [],
  isBackwards: false,
  isRot13: false,
  isOdd: false,
  holdsCodes: false,
};

/** By concept: whether a sentence that begins with it gives an order. */
export const ORDERS = new Uint8Array(CONCEPTS.length);
/** By concept: whether quoting it reports an attack rather than making one. */
export const REQUESTS = new Uint8Array(CONCEPTS.length);
const orders: readonly Concept[] = ['override', 'send', 'reveal', 'destroy', 'execute', 'grant'];
for (const name of [...orders, 'obey', 'secrecy', 'unconfirmed'] as const) {
  ORDERS[conceptNumber(name)] = 1;
}
for (const name of [...orders, 'role', 'persona', 'secrecy', 'system-prompt'] as const) {
  REQUESTS[conceptNumber(name)] = 1;
}
