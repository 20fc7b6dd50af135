/**
 * The parts of something that is opened piece by piece. They are closed in reverse order, each even
 * where another cannot be. Proven by opened-parts.test.ts.
 */
export class OpenedParts {
  readonly #closings: (() => unknown)[] = [];

  /** @param close may be async */
  add(close: () => unknown): void {
    this.#closings.push(close);
  }

  /** Closes everything. @throws the first error, once everything was tried */
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
 * Opens the parts of something. Where a later one cannot be opened, those before it are closed.
 *
 * @param open adds each part when it was opened
 * @param onUnclosed told where one of them cannot be closed then
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
