/** What reading an issue body gives. Pure data: a reading knows no ids, those come from matching (`match.ts`). */

/** One acceptance item as it stands in the body. */
export type ReadCriterion = {
  /** Plain text of the item's first paragraph. */
  text: string;
  /** True only for a box that GitHub renders as ticked. A tick is a hint, never evidence. */
  checked: boolean;
  /** True if GitHub renders a checkbox. */
  checkbox: boolean;
  /** Number of ancestor list items with text inside the section. */
  depth: number;
  /** Nested plain bullets, further paragraphs, code, Gherkin steps. */
  detail?: string[];
  /** The sub-heading, bold line or plain parent that the item stands under. */
  group?: string;
  /** The author's own name for it, such as `AC-1`. */
  label?: string;
  /** The whole leading text is struck through. */
  struck?: boolean;
  /** The broken checkbox or bullet that was cut off. */
  malformed?: string;
  /** A status that a person typed: an emoji or a word from a status column. */
  mark?: string;
  /** The text of an HTML comment inside the item. */
  marker?: string;
  /** Issues that the item starts with. */
  refs?: string[];
};

/** A definition of done that was found next to a real acceptance section. */
export type SecondarySection = { section: string; items: string[] };

export type CriteriaReading = {
  criteria: ReadCriterion[];
  /** Heading or label of the first section that yields criteria, else of the first; null if there is none. */
  section: string | null;
  /** Only without a section: texts of all task items, to propose to a person. */
  fallbackTasklist?: string[];
  /** Unfilled template text found in the section. */
  placeholders?: string[];
  secondary?: SecondarySection[];
  /** Prose that qualifies all criteria. */
  context?: string[];
  /** Links to criteria that are kept elsewhere. */
  external?: string[];
};
