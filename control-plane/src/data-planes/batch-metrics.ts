/** Metrics of the batches that data planes send over a network. */
import { Counter, Gauge, type Registry } from 'prom-client';

export interface BatchMetrics {
  accepted(records: number): void;
  /** @param reason a status of the answer, or `busy` */
  rejected(reason: string): void;
}

/** @param inWork batches being stored now */
export function createBatchMetrics(registry: Registry, inWork: () => number): BatchMetrics {
  const registers = [registry];
  const batches = new Counter({
    name: 'governance_ingest_batches_total',
    help: 'Audit batches that data planes shipped and that are stored',
    registers,
  });
  const records = new Counter({
    name: 'governance_ingest_records_total',
    help: 'Records in these batches, including those already stored',
    registers,
  });
  const rejected = new Counter({
    name: 'governance_ingest_rejected_batches_total',
    help: 'Audit batches that were not stored, by the status of the answer; busy: the data plane ships it again',
    labelNames: ['reason'],
    registers,
  });
  new Gauge({
    name: 'governance_ingest_batches_in_work',
    help: 'Audit batches being stored now',
    registers,
    collect() {
      this.set(inWork());
    },
  });
  return {
    accepted: (count) => {
      batches.inc();
      records.inc(count);
    },
    rejected: (reason) => rejected.inc({ reason }),
  };
}
