/** Whom a call sends something, and from whom it comes. */
import { addRecipients } from './recipients.ts';

/** Senders of one message; more are recipients, whatever the argument is called. */
const MAX_SENDERS = 5;

export class RecipientList {
  /** Where the first was named. */
  at = '';
  readonly #found = new Set<string>();
  readonly #senders = new Set<string>();
  /** Arguments around the current one that name who sends. */
  #ofSenders = 0;

  get size(): number {
    if (this.#senders.size <= MAX_SENDERS) return this.#found.size;
    return new Set([...this.#found, ...this.#senders]).size;
  }

  /** @param isNamed whether the argument is for recipients; otherwise only addresses count */
  add(text: string, isNamed: boolean, place: () => string): void {
    this.#note(place, (found) => addRecipients(text, isNamed, found));
  }

  /** One of whom an object tells the address; without one, by its place among the arguments. */
  addDescribed(whom: object, place: () => string): void {
    const before = this.size;
    const texts = Object.values(whom).filter((one) => typeof one === 'string');
    const address = texts.find((text) => text.includes('@'));
    this.add(address ?? place(), true, place);
    if (this.size === before && address === undefined) {
      this.#note(place, (found) => found.add(place()));
    }
  }

  #note(place: () => string, add: (found: Set<string>) => void): void {
    const found = this.#ofSenders > 0 ? this.#senders : this.#found;
    const isFirst = this.at === '' && found.size === 0;
    add(found);
    if (isFirst && found.size > 0) this.at = place();
  }

  /** Reads an argument that names who sends. */
  ofSenders(read: () => void): void {
    this.#ofSenders++;
    read();
    this.#ofSenders--;
  }
}
