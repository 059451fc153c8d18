/** Weeks, by which the ledger's files are named. */

const DAY_MS = 86_400_000;

/** The ISO 8601 week of a time in UTC, such as `2026-W33`. A week belongs to the year of its Thursday. */
export function isoWeek(atMs: number): string {
  const day = new Date(atMs);
  const weekday = (day.getUTCDay() + 6) % 7;
  const thursday = new Date(atMs + (3 - weekday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const dayOfYear = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(dayOfYear / 7) + 1).padStart(2, '0')}`;
}

/** Whether a text names a week as `isoWeek` does. */
export function isWeek(text: string): boolean {
  return /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/.test(text);
}
