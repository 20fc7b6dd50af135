/**
 * Closes the parts of something that was opened step by step, in reverse order. A part that cannot
 * be closed does not keep the others open. Proven by opened-parts.test.ts.
 */
export class OpenedParts {
  readonly #closings: (() => unknown)[] = [];

  /** @param close may be async */
  add(close: () => unknown): void {
    this.#closings.push(close);
  }

  /** Closes all parts. @throws the first error, after all parts were tried */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#closings.pop(); close; close = this.#closings.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/**
 * Opens the parts of something. Where one cannot be opened, those opened before it are closed.
 *
 * @param open adds each part after opening it
 * @param onUnclosed called with the first error where parts cannot be closed either
 * @throws what `open` threw
 */
export async function openParts<T>(
  open: (parts: OpenedParts) => Promise<T>,
  onUnclosed: (error: unknown) => void,
): Promise<T> {
  const parts = new OpenedParts();
  try {
    return await open(parts);
  } catch (error) {
    await parts.close().catch(onUnclosed);
    throw error;
  }
}
