/**
 * Our Probot: it authenticates as the App and routes deliveries. Its throttle and its retries are off, because the
 * broker paces writes by itself and repeats only what it has read back.
 */
import { Probot, ProbotOctokit } from 'probot';

export interface ProbotSettings {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  /** Base URL of the REST API. */
  readonly apiUrl: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
}

/** Makes the Probot of the App. It is configured by its arguments alone, never by the environment. */
export function makeProbot(settings: ProbotSettings): Probot {
  return new Probot({
    appId: settings.appId,
    privateKey: settings.privateKey,
    secret: settings.webhookSecret,
    baseUrl: settings.apiUrl,
    logLevel: settings.logLevel,
    Octokit: ProbotOctokit.defaults((options: Record<string, unknown>) => ({
      ...options,
      throttle: { enabled: false },
      retry: { enabled: false },
    })),
  });
}
