/** Paragraphs that only point to criteria kept elsewhere. */
import type { Nodes, Paragraph } from 'mdast';
import { rawText } from './text.ts';

const POINTER = new Set(
  'see refer reference references to the a an in on at of for and or also here this link links linked attached document documents doc docs spec specification file page wiki ticket issue issues pr epic story parent figma confluence jira notion google sheet defined described documented listed found kept maintained specified criteria criterion acceptance are is can be all full list details detail more please cf via from below above siehe in im der die das dem den voir dans le la les ver en el la los vedi zie patrz w смотри см в 见 参见 請參閱 参照'.split(
    ' ',
  ),
);

const MAX_POINTER_CHARS = 1_000;

/** The links of a paragraph that has nothing but links and pointing words; empty for any other. */
export function externalLinks(paragraph: Paragraph): string[] {
  const urls: string[] = [];
  if (rawText(paragraph.children).length > MAX_POINTER_CHARS) return [];
  const rest = collectLinks(paragraph.children, urls).replace(/(?:[\w.-]+\/[\w.-]+)?#\d+\b/g, (ref) => {
    urls.push(ref);
    return ' ';
  });
  if (urls.length === 0) return [];
  const words = rest
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  return words.length <= 14 && words.every((word) => POINTER.has(word)) ? urls : [];
}

/** The text outside links; their addresses go to `urls`. */
function collectLinks(nodes: readonly Nodes[], urls: string[]): string {
  let rest = '';
  for (const node of nodes) {
    if (node.type === 'link') {
      urls.push(node.url);
      rest += ' ';
    } else rest += 'children' in node ? collectLinks(node.children, urls) : rawText([node]);
  }
  return rest;
}
