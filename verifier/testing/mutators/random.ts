/** A number from 0 up to, but not including, another. */
export type Random = (below: number) => number;

/** mulberry32: small, and the same on every platform. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** @throws RangeError when the list is empty */
export function pick<T>(items: readonly T[], random: Random): T {
  const at = items.length === 0 ? 0 : random(items.length);
  if (at >= items.length) throw new RangeError('there is nothing to pick');
  return items[at] as T;
}

/** Removes, inserts or changes bytes. */
export function mutateBytes(content: Buffer, random: Random): Buffer {
  if (content.length === 0) return Buffer.from([random(256)]);
  const at = random(content.length);
  switch (random(4)) {
    case 0:
      return content.subarray(0, at);
    case 1:
      return Buffer.concat([content.subarray(0, at), content.subarray(at + 1 + random(40))]);
    case 2:
      return Buffer.concat([
        content.subarray(0, at),
        Buffer.from([random(256)]),
        content.subarray(at),
      ]);
    default:
      return withByte(content, at, 1 + random(255));
  }
}

/** A copy with different bits in one byte. */
export function withByte(content: Buffer, at: number, bits: number): Buffer {
  const edited = Buffer.from(content);
  edited[at] = (edited[at] as number) ^ bits;
  return edited;
}

/** Swaps, duplicates or removes an item. */
export function mutateList<T>(items: readonly T[], random: Random): T[] {
  const [at, other] = [random(items.length), random(items.length)];
  const [one, two] = [items[at] as T, items[other] as T];
  if (random(3) === 0) return items.toSpliced(at, 1);
  if (random(2) === 0) return items.toSpliced(other, 0, one);
  return items.with(at, two).with(other, one);
}

/** Replaces a digit or letter of a text, which mostly preserves its form. */
export function mutateText(text: string, random: Random): string {
  const at = random(text.length);
  const one = '0123456789abcdefz'[random(17)] ?? '0';
  return `${text.slice(0, at)}${one}${text.slice(at + 1)}`;
}
