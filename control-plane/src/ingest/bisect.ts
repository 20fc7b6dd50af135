/**
 * Finds the items that fail by themselves, with about log2(n) trials for each.
 *
 * @param fails tries some of the items together; returns why they fail, or undefined when they do
 *   not
 * @returns the reason of each failing item. Items that fail only together are not among them.
 */
export async function findFailing<T>(
  items: readonly T[],
  fails: (some: readonly T[]) => Promise<string | undefined>,
): Promise<Map<T, string>> {
  const found = new Map<T, string>();
  const visit = async (some: readonly T[]): Promise<void> => {
    const [first] = some;
    if (first === undefined) return;
    const reason = await fails(some);
    if (reason === undefined) return;
    if (some.length === 1) {
      found.set(first, reason);
      return;
    }
    const middle = some.length >> 1;
    await visit(some.slice(0, middle));
    await visit(some.slice(middle));
  };
  await visit(items);
  return found;
}
