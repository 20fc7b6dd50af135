// Removes from node_modules what only development packages and optional peers ask for: `npm ci
// --omit=dev` leaves the peers of Prisma's client, which the service does not use. The lock file
// says which they are: `devOptional` is what no dependency of production needs.
import { readFileSync, rmSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const unneeded = Object.keys(packages).filter((path) => packages[path].devOptional === true);
for (const path of unneeded) rmSync(path, { recursive: true, force: true });
// The programs of what was removed, and links to them.
rmSync('node_modules/.bin', { recursive: true, force: true });
rmSync('node_modules/@typescript', { recursive: true, force: true });
console.log(`removed ${unneeded.length} packages`);
