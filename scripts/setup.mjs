/** `npm run setup`: everything that any command of this checkout needs. Says only what it had to do. */
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './setup/packages.mjs';
import { announce, SetupError } from './setup/report.mjs';
import { ensureTools } from './setup/tools.mjs';

try {
  ensurePackages(fileURLToPath(new URL('..', import.meta.url)));
  ensureTools(['redis', 'utilLinux', 'bubblewrap', 'chromium']);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  announce(error.message);
  process.exitCode = 1;
}
