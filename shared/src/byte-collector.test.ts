import { describe, expect, it } from 'vitest';
import { ByteCollector } from './byte-collector.ts';

describe('ByteCollector', () => {
  it('holds at most twice the bytes of one-byte pieces, whose content it keeps', () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const collector = new ByteCollector(1_000_000);
    let isWithin = true;
    for (let at = 0; at < bytes.length; at++) {
      collector.add(bytes.subarray(at, at + 1));
      isWithin &&= collector.capacity <= Math.max(1024, 2 * collector.length);
    }
    expect(isWithin).toBe(true);
    expect(collector.take().equals(bytes)).toBe(true);
    expect([collector.length, collector.capacity]).toEqual([0, 0]);
  });

  it('does not copy a single piece, nor write into it', () => {
    const whole = Buffer.from('abcdef');
    const piece = whole.subarray(0, 3);
    const collector = new ByteCollector(10);
    collector.add(piece);
    expect(collector.take().buffer).toBe(piece.buffer);
    collector.add(piece);
    collector.add(Buffer.from('XY'));
    expect(collector.take().toString()).toBe('abcXY');
    expect(whole.toString()).toBe('abcdef');
  });

  it('takes as many bytes as its limit, drops everything past it, and begins anew', () => {
    const collector = new ByteCollector(3);
    expect(['a', 'b', 'c'].map((text) => collector.add(Buffer.from(text)))).not.toContain(false);
    expect(collector.capacity).toBe(3);
    expect(collector.add(Buffer.from('d'))).toBe(false);
    expect(collector.length).toBe(0);
    collector.add(Buffer.from('e'));
    expect(collector.take().toString()).toBe('e');
    expect(collector.take().length).toBe(0);
  });
});
