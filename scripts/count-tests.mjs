/**
 * `node scripts/count-tests.mjs <report>`: prints `N passed, N failed` of vitest's JSON report, and ends with 1 where
 * anything failed or nothing ran. A file that could not be loaded counts as one failed test.
 */
import { readFileSync } from 'node:fs';

const { passed, failed } = count(process.argv[2]);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exitCode = 1;

function count(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.error(`There is no report of the tests: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + broken.length;
  return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed };
}
