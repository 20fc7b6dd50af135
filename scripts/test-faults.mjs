// `npm run test:faults`: the schedules of network faults, ten times as many as in the suite.
process.env.FAULT_SCHEDULES ??= '10000';
process.argv.splice(2, process.argv.length, 'tests/fault-schedules.pg.test.ts');
await import('./test.mjs');
