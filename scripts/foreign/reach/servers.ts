/** The real servers whose tools are called, what each needs, and the calls made of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReachRule } from '@governance/shared/detect/reach/reach-finding';
import { assetPath, projectRoot } from '@governance/shared/process/assets';
import type { Double } from './doubles.ts';

const folder = join(projectRoot, '.tmp/foreign/servers');

/** Installed when this runs: none is needed by the product or its tests. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@cyanheads/git-mcp-server': '2.15.3',
  '@modelcontextprotocol/server-slack': '2025.4.25',
  '@zereight/mcp-gitlab': '2.1.64',
  'mcp-mail-server': '1.2.1',
  'mcp-sqlite': '1.0.9',
};

/** A call and what must come of it: it passes, or a rule denies or escalates it. */
export interface ReachCase {
  tool: string;
  args: Record<string, unknown>;
  expected: 'passes' | { verdict: 'denied' | 'escalated'; rule: ReachRule };
}

export interface RealServer {
  id: string;
  package: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
  cases: ReachCase[];
}

export interface Doubles {
  mail: Double;
  chat: Double;
  codeHost: Double;
}

/** Installs the packages once, from the npm registry. */
export function installServers(): void {
  mkdirSync(folder, { recursive: true });
  const manifest = JSON.stringify({ private: true, dependencies: PACKAGES });
  const path = join(folder, 'package.json');
  const isThere =
    existsSync(join(folder, 'node_modules')) && readFileSync(path, 'utf8') === manifest;
  if (isThere) return;
  console.log(`Installing ${Object.keys(PACKAGES).length} servers …`);
  writeFileSync(path, manifest);
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(npm, options, { cwd: folder, stdio: 'inherit' });
}

function installed(name: string, program: string, ...args: string[]) {
  const entry = join(folder, 'node_modules', name, program);
  return {
    package: `${name} ${PACKAGES[name]}`,
    command: process.execPath,
    args: [entry, ...args],
  };
}

const denied = (rule: ReachRule) => ({ verdict: 'denied', rule }) as const;
const escalated = (rule: ReachRule) => ({ verdict: 'escalated', rule }) as const;
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `person-${index}@example.com`).join(', ');

/** @param own a folder that the servers may fill */
export function realServers(own: string, { mail, chat, codeHost }: Doubles): RealServer[] {
  const files = join(own, 'files');
  const repository = join(own, 'repository');
  const secret = join(files, 'secrets.env');
  return [
    {
      id: 'filesystem',
      package: '@modelcontextprotocol/server-filesystem',
      command: process.execPath,
      args: [
        assetPath('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
        files,
      ],
      cases: [
        {
          tool: 'write_file',
          args: { path: join(files, 'a.txt'), content: 'a' },
          expected: 'passes',
        },
        {
          tool: 'write_file',
          args: { path: secret, content: 'a' },
          expected: denied('protected_file'),
        },
        {
          tool: 'edit_file',
          args: { path: secret, edits: [{ oldText: 'kept', newText: 'lost' }] },
          expected: denied('protected_file'),
        },
        {
          tool: 'move_file',
          args: { source: secret, destination: join(files, 'b.txt') },
          expected: denied('protected_file'),
        },
        {
          tool: 'read_multiple_files',
          args: { paths: [join(files, 'a.txt'), secret] },
          expected: escalated('protected_file'),
        },
        {
          tool: 'create_directory',
          args: { path: '/etc/mcp' },
          expected: escalated('config_path'),
        },
      ],
    },
    {
      id: 'git',
      ...installed('@cyanheads/git-mcp-server', 'dist/index.js'),
      env: { MCP_TRANSPORT_TYPE: 'stdio', LOGS_DIR: join(own, 'git-logs') },
      cases: [
        { tool: 'git_status', args: { path: repository }, expected: 'passes' },
        {
          tool: 'git_branch',
          args: { path: repository, mode: 'create', branchName: 'feature/a' },
          expected: 'passes',
        },
        {
          tool: 'git_branch',
          args: { path: repository, mode: 'delete', branchName: 'feature/a' },
          expected: 'passes',
        },
        {
          tool: 'git_branch',
          args: { path: repository, mode: 'delete', branchName: 'main', force: true },
          expected: escalated('delete_whole'),
        },
        {
          tool: 'git_reset',
          args: { path: repository, mode: 'hard', target: 'HEAD', confirmed: true },
          expected: escalated('delete_whole'),
        },
        {
          tool: 'git_push',
          args: {
            path: repository,
            remote: 'origin',
            branch: 'main',
            force: true,
            confirmed: true,
          },
          expected: escalated('delete_whole'),
        },
        {
          tool: 'git_clean',
          args: { path: repository, force: true, directories: true },
          expected: escalated('delete_whole'),
        },
      ],
    },
    {
      id: 'sqlite',
      ...installed('mcp-sqlite', 'mcp-sqlite-server.js', join(own, 'shop.db')),
      cases: [
        {
          tool: 'query',
          args: { sql: 'CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT)' },
          expected: 'passes',
        },
        {
          tool: 'query',
          args: { sql: "INSERT INTO orders (state) VALUES ('new'), ('paid'), ('sent')" },
          expected: 'passes',
        },
        { tool: 'query', args: { sql: 'DELETE FROM orders WHERE id = 3' }, expected: 'passes' },
        {
          tool: 'query',
          args: { sql: 'DELETE FROM orders' },
          expected: escalated('sql_without_where'),
        },
        {
          tool: 'query',
          args: { sql: 'UPDATE orders SET state = ? WHERE 1=1', values: ['gone'] },
          expected: escalated('sql_without_where'),
        },
        {
          tool: 'query',
          args: { sql: 'DROP TABLE orders' },
          expected: escalated('sql_without_where'),
        },
        {
          tool: 'delete_records',
          args: { table: 'orders', conditions: {} },
          expected: escalated('delete_wildcard'),
        },
        { tool: 'read_records', args: { table: 'orders', conditions: {} }, expected: 'passes' },
      ],
    },
    {
      id: 'mail',
      ...installed('mcp-mail-server', 'dist/index.js'),
      env: {
        IMAP_HOST: '127.0.0.1',
        IMAP_PORT: '1',
        IMAP_SECURE: 'false',
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: String(mail.port),
        SMTP_SECURE: 'false',
        EMAIL_USER: 'agent@example.com',
        EMAIL_PASS: 'password-of-the-double',
      },
      cases: [
        {
          tool: 'send_email',
          args: { to: addresses(2), subject: 'Menu', text: 'Soup on Monday.' },
          expected: 'passes',
        },
        {
          tool: 'send_email',
          args: { to: addresses(51), subject: 'Menu', text: 'Soup on Monday.' },
          expected: escalated('email_recipients'),
        },
        {
          tool: 'send_email',
          args: {
            to: addresses(1),
            cc: addresses(30),
            bcc: `${addresses(60)}`,
            subject: 'Menu',
            text: 'Soup.',
          },
          expected: escalated('email_recipients'),
        },
      ],
    },
    {
      id: 'chat',
      ...installed('@modelcontextprotocol/server-slack', 'dist/index.js'),
      env: {
        NODE_OPTIONS: `--import=${join(import.meta.dirname, 'chat-at-double.mjs')}`,
        CHAT_DOUBLE: `http://127.0.0.1:${chat.port}`,
        SLACK_BOT_TOKEN: 'xoxb-of-the-double',
        SLACK_TEAM_ID: 'T1',
      },
      cases: [
        {
          tool: 'slack_post_message',
          args: { channel_id: 'C1', text: 'The build is green.' },
          expected: 'passes',
        },
        {
          tool: 'slack_post_message',
          args: { channel_id: 'C1', text: '<!channel> the build is green' },
          expected: escalated('email_recipients'),
        },
      ],
    },
    {
      id: 'code-host',
      ...installed('@zereight/mcp-gitlab', 'build/index.js'),
      env: {
        GITLAB_API_URL: `http://127.0.0.1:${codeHost.port}/api/v4`,
        GITLAB_PERSONAL_ACCESS_TOKEN: 'token-of-the-double',
      },
      cases: [
        {
          tool: 'create_branch',
          args: { project_id: '7', branch: 'feature/a', ref: 'main' },
          expected: 'passes',
        },
        {
          tool: 'delete_branch',
          args: { project_id: '7', branch_name: 'feature/a' },
          expected: 'passes',
        },
        {
          tool: 'delete_branch',
          args: { project_id: '7', branch_name: 'main' },
          expected: escalated('delete_whole'),
        },
        {
          tool: 'push_files',
          args: {
            project_id: '7',
            branch: 'feature/a',
            commit_message: 'settings',
            files: [{ file_path: 'app/production.env', content: 'MODE=1' }],
          },
          expected: denied('protected_file'),
        },
        {
          tool: 'push_files',
          args: {
            project_id: '7',
            branch: 'feature/a',
            commit_message: 'everything',
            files: Array.from({ length: 101 }, (_, index) => ({
              file_path: `docs/${index}.md`,
              content: 'a',
            })),
          },
          expected: escalated('bulk_action'),
        },
      ],
    },
  ];
}
