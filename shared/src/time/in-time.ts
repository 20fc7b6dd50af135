/**
 * Waits for work no longer than a time. The work itself goes on.
 *
 * @param late called when the time is over: what it returns or throws is the result
 */
export async function inTime<T, Late = never>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  }).then(late);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
