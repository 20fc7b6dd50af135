/** A stored time as text. One that is damaged is none, and keeps no walk from the rest. */
export function textOfTime(time: Date): string {
  return Number.isNaN(time.getTime()) ? 'no time' : time.toISOString();
}
