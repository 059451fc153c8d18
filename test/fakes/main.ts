/**
 * The stand-in alone, for trying things by hand: `npm run -s github -- --port <n> [--hook <url>]`.
 *
 * Prints one JSON line and stays until SIGINT or SIGTERM. It starts with the public repository `acme/widgets`.
 */
import { Command, InvalidArgumentError } from 'commander';
import { startGitHub } from './github.ts';

const files = {
  'README.md': '# Widgets\n\nA small library of widgets.\n',
  'package.json': `${JSON.stringify({ name: 'widgets', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/widget.js': 'export const area = (width, height) => width * height;\n',
  'test/widget.test.js': [
    "import assert from 'node:assert/strict';",
    "import test from 'node:test';",
    "import { area } from '../src/widget.js';",
    '',
    "test('the area of a widget', () => assert.equal(area(2, 3), 6));",
    '',
  ].join('\n'),
};

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new InvalidArgumentError('a port is a number from 0 to 65535');
}

const command = new Command('github')
  .description('A stand-in for GitHub on one local port')
  .option('--port <n>', 'where to listen; 0 takes any free port', portOf, 0)
  .option('--hook <url>', "where the App's webhooks go");
const options = command.parse().opts<{ port: number; hook?: string }>();

const github = await startGitHub({ port: options.port, ...(options.hook ? { hookUrl: options.hook } : {}) });
await github.createRepo({ owner: 'acme', name: 'widgets', files });
const { url, gitUrl, appId, privateKey, webhookSecret, token } = github;
process.stdout.write(`${JSON.stringify({ url, gitUrl, appId, privateKey, webhookSecret, token })}\n`);

// The listeners stay: where only execa's own is left while git runs, it ends the process by the signal.
await new Promise((resolve) => {
  process.on('SIGINT', resolve);
  process.on('SIGTERM', resolve);
});
await github.close();
