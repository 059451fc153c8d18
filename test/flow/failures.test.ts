/**
 * What happens when something fails: the product as a person starts it, each suite on a stage of its own. They wait more
 * than they work, so that the suites run side by side, and the tests of a suite one after the other.
 */
import { describe } from 'vitest';
import { live } from './live.ts';
import { random } from './random.ts';
import { serverKilled } from './server.ts';
import { stopped } from './stop.ts';
import { storeLost } from './store.ts';
import { two } from './two.ts';
import { cutOff, workerLost } from './worker.ts';

const suites = {
  'kills at random': random,
  'a worker without GitHub': cutOff,
  'a worker': workerLost,
  'the store': storeLost,
  'the server killed': serverKilled,
  'the server stopped': stopped,
  'one issue among others': live,
  'two on one Redis': two,
};

describe.concurrent('failures', { timeout: 480_000 }, () => {
  for (const [name, tests] of Object.entries(suites)) describe.concurrent(name, tests);
});
