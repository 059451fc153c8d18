/**
 * What happens when something fails: the product as a person starts it, on a stage of its own for each test. They wait
 * more than they work, so that they run side by side.
 */
import { describe } from 'vitest';
import { closing } from './closing.ts';
import { badGitHub } from './github.ts';
import { killed } from './kill.ts';
import { lost } from './lost.ts';
import { random } from './random.ts';
import { stopped } from './stop.ts';
import { two } from './two.ts';

describe.concurrent('the end is right', { timeout: 170_000 }, () => {
  describe('after random kills', random);
  describe('where a worker has lost its lease, or its way to GitHub', lost);
  describe('where something is killed while an agent runs', killed);
  describe('where the server is killed on the way to a close', closing);
  describe('where GitHub answers badly', badGitHub);
  describe('where a person stops it, or takes the label off', stopped);
  describe('where two share a Redis', two);
});
