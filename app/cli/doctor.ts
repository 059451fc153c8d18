/** `lanekeeper doctor`: whether this machine and this configuration are fit for the work, and what would be better. */
import { Command } from 'commander';
import { readDoctorConfig } from '../config.ts';
import type { Finding } from '../doctor/finding.ts';
import { diagnose } from '../doctor/index.ts';

const help = `
It looks at what \`start\`, \`worker\` and \`box\` would use here: the same environment, lanekeeper.yml, data directory and
Redis. No secret is printed. Exit code: 0 good, or with warnings; 1 something fails; 2 bad usage.`;

/** The command, for the program to add. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check this machine and its configuration, and say what would be better')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async ({ json }: { json?: boolean }) => {
      const diagnosis = await diagnose(readDoctorConfig());
      const text = json ? JSON.stringify(diagnosis, null, 2) : diagnosis.findings.map(lineOf).join('\n');
      process.stdout.write(`${text}\n`);
      process.exitCode = diagnosis.verdict === 'fail' ? 1 : 0;
    });
}

function lineOf({ verdict, check, evidence, better }: Finding): string {
  const line = `${verdict.padEnd(4)}  ${check}: ${evidence}`;
  return better === null ? line : `${line}\n      -> ${better}`;
}
