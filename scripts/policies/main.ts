/** `npm run policies -- check|test|diff|apply DIR`; see policies-command.ts. */
import { runPolicies } from './policies-command.ts';

process.exitCode = await runPolicies(process.argv.slice(2), process.env, {
  write: (line) => console.log(line),
  writeError: (line) => console.error(line),
});
