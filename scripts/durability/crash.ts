/**
 * `npm run test:crash`: kill -9 of a data plane under load, then crashes of PostgreSQL, with the
 * planes in separate processes.
 *
 * CRASH_KILLS (200), CRASH_DATABASE (50), CRASH_SEED (random, printed)
 */
import { randomInt } from 'node:crypto';
import { killRounds } from './kill-rounds.ts';
import { twoPlanesSubject } from './kill-subject.ts';
import { postgresRounds } from './postgres-rounds.ts';
import { seededRandom } from './seeded-random.ts';

const kills = Number(process.env.CRASH_KILLS ?? 200);
const crashes = Number(process.env.CRASH_DATABASE ?? 50);
const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));

const every = (rounds: number) => ({
  rounds,
  callers: 16,
  random: seededRandom(seed),
  progress: (round: number) => {
    if (round % 10 === 0) console.log(`  round ${round} of ${rounds}`);
  },
});

function show(problems: string[]): void {
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
}

console.log(`kill -9 of a data plane: ${kills} rounds, seed ${seed}`);
const killed = await killRounds(every(kills), twoPlanesSubject);
console.log(
  `kill -9: ${killed.rounds} kills, ${killed.acknowledged} calls acknowledged, ${killed.forwarded} forwarded, ${killed.records} records, ${killed.problems.length} problems`,
);
show(killed.problems);

console.log(`crashes of PostgreSQL (immediate): ${crashes} rounds`);
const crashed = await postgresRounds(every(crashes));
console.log(
  `PostgreSQL: ${crashed.rounds} crashes, ${crashed.acknowledged} calls acknowledged, ${crashed.failed} failed, ${crashed.problems.length} problems`,
);
show(crashed.problems);
process.exit(killed.problems.length + crashed.problems.length === 0 ? 0 : 1);
