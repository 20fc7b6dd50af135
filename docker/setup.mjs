// Writes the env files of compose.yaml, which hold its secrets and are in no repository and no image:
//   node docker/setup.mjs env     makes every secret; what is there already is left alone
//   node docker/setup.mjs token   issues the token of the data planes, at the running control plane
// Without Node on this machine: docker run --rm --network host -v "$PWD/docker:/docker" \
//   node:24-bookworm-slim node /docker/setup.mjs env
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [command, folder = import.meta.dirname, controlPlane = 'http://localhost:8080'] =
  process.argv.slice(2);

/** A variable a line; a PEM has its line ends written as \n. */
function write(name, variables, flag) {
  const lines = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`, { mode: 0o600, flag });
  console.log(`wrote ${name}`);
}

function makeSecrets() {
  const names = ['postgres.env', 'control-plane.env', 'data-planes.env'];
  const there = names.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) throw new Error(`${there.join(', ')}: there already, nothing was written`);
  const secret = () => randomBytes(24).toString('hex');
  const database = secret();
  const pem = { format: 'pem' };
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { ...pem, type: 'pkcs8' },
    publicKeyEncoding: { ...pem, type: 'spki' },
  });
  const oneLine = (text) => text.trim().replaceAll('\n', '\\n');
  write('postgres.env', { POSTGRES_PASSWORD: secret(), GOVERNANCE_PASSWORD: database }, 'wx');
  write(
    'control-plane.env',
    {
      DATABASE_URL: `postgresql://governance:${database}@postgres:5432/governance`,
      SERVICE_ADMIN_PASSWORD: secret(),
      SERVICE_MASTER_KEY: randomBytes(32).toString('base64'),
      SERVICE_JWT_PRIVATE_KEY: oneLine(privateKey),
      SERVICE_JWT_PUBLIC_KEY: oneLine(publicKey),
      SERVICE_METRICS_TOKEN: secret(),
    },
    'wx',
  );
  // The token is issued by the control plane once it runs.
  write('data-planes.env', { SERVICE_CP_TOKEN: '', SERVICE_METRICS_TOKEN: secret() }, 'wx');
}

function read(name) {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
}

async function post(path, body, token) {
  const response = await fetch(`${controlPlane}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.detail}`);
  return answer;
}

async function issueToken() {
  const password = read('control-plane.env').SERVICE_ADMIN_PASSWORD;
  const login = await post('/api/v1/auth/admin/login', { username: 'admin', password });
  const label = { label: 'compose', expires_days: 365 };
  const issued = await post('/api/v1/admin/data-plane-tokens', label, login.access_token);
  write('data-planes.env', { ...read('data-planes.env'), SERVICE_CP_TOKEN: issued.token }, 'w');
}

try {
  if (command === 'env') makeSecrets();
  else if (command === 'token') await issueToken();
  else throw new Error('node docker/setup.mjs env|token');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
