/** A thread that scans values that are too large for the main thread (scan-threads.ts). */
import { parentPort } from 'node:worker_threads';
import { createScanJobs, type ScanJob } from './scan-jobs.ts';

if (!parentPort) throw new Error('scan-thread-worker runs as a worker thread only');
const port = parentPort;
const run = createScanJobs();

port.on('message', (job: ScanJob) => port.postMessage(run(job)));
