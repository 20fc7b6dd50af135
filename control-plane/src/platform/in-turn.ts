/**
 * Runs `work` for one item after the other. One that throws does not keep the others waiting.
 *
 * @param signal ends the loop before the next item
 * @throws the first error, after the others had their turn
 */
export async function inTurn<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    if (signal.aborted) return;
    await work(item).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
