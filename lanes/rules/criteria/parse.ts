/** The one place that turns Markdown into a tree: GitHub's flavour, parsed once, never matched by lines. */
import type { Root } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';

const processor = unified().use(remarkParse).use(remarkGfm).freeze();

/** Parse one body. Superlinear on hostile input: bound it first (`bounds.ts`). */
export function parseBody(body: string): Root {
  return processor.parse(body);
}
