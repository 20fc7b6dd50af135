import { Gauge, type Registry } from 'prom-client';

type Labels = Record<string, string>;

/** Registers gauges that are read at each scrape. A label set without a value is left out. */
export function createGauges(registry: Registry) {
  return (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: (set: (labels: Labels, value: number | null | undefined) => void) => void,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        read((labels, value) => {
          if (value !== null && value !== undefined) this.set(labels, value);
        });
      },
    });
  };
}
