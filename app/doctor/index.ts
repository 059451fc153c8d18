/** The doctor: looks at everything that Lanekeeper rests on and says what is wrong, and what would be better. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLaneError, LaneError } from '../../lanes/index.ts';
import { loadOperatorFile, type OperatorConfig } from '../config/operator-file.ts';
import { isConfigError } from '../config/problems.ts';
import type { DoctorConfig } from '../config.ts';
import { makeFleetClient } from '../fleet-client/client.ts';
import { lookAtDataDir } from './data-dir.ts';
import { type Finding, fail, ok, type Verdict, warn, worst } from './finding.ts';
import { lookAtMachine } from './machine.ts';
import { lookAtOurRedis } from './redis.ts';
import { lookAtSecrets } from './secrets.ts';

export interface Diagnosis {
  /** The worst of the findings. */
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
}

/** Looks at everything, in the order of what rests on what. It changes nothing that stays. */
export async function diagnose(config: DoctorConfig): Promise<Diagnosis> {
  const [operator, file] = lookAtOperatorFile(config);
  const lanes = operator?.lanes ?? [];
  const findings = [
    ...config.problems.map((problem) => fail('settings', problem, 'Correct it in the environment.')),
    ...config.warnings.map((warning) => warn('settings', warning, 'Correct it in the environment.')),
    file,
    ...(await inPlace(config.dataDir, (place) =>
      lookAtMachine(place, {
        required: lanes.some(({ containment }) => containment === 'required'),
        without: lanes.some(({ containment }) => containment === 'none'),
      }),
    )),
    ...(await lookAtDataDir(config.dataDir)),
    ...(await lookAtSecrets(config.secrets)),
    ...(await lookAtOurRedis(config)),
    ...(await lookAtApp(config)),
  ];
  return { verdict: worst(findings), findings };
}

function lookAtOperatorFile({
  operatorFile: path,
  workerName,
}: DoctorConfig): [OperatorConfig | null, Finding] {
  const check = "operator's file";
  try {
    const operator = loadOperatorFile(path, workerName);
    const names = operator.lanes.map(({ name }) => name).join(', ');
    return [operator, ok(check, `${path ?? 'there is none'}; lanes: ${names}`)];
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return [null, fail(check, error.problems.join('; '), 'Correct it: the place is line and column.')];
  }
}

/** Containment is tried in the data directory, where it will be used; where there is none, in a temporary folder. */
async function inPlace<T>(dataDir: string, use: (place: string) => Promise<T>): Promise<T> {
  if (await stat(dataDir).catch(() => null)) return await use(dataDir);
  const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-doctor-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Only a worker elsewhere names an App. */
async function lookAtApp({ app }: DoctorConfig): Promise<Finding[]> {
  if (app === null) return [];
  // Somebody may have written a password into it.
  const { origin } = new URL(app.appUrl);
  try {
    await makeFleetClient(app).pending();
    return [ok('app', `${origin} answers and knows our token`)];
  } catch (error) {
    if (!isLaneError(error)) throw error;
    return [fail('app', `${origin}: ${error.code}`, new LaneError(error.code).message)];
  }
}
