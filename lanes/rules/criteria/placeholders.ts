/** Template text that nobody filled in. It must never become a criterion that an agent can "meet". */
import { stepKind, withoutKeyword } from './gherkin.ts';
import { brokenBox } from './marks.ts';
import { normalise } from './text.ts';

const NOTHING = new Set(
  [
    'n/a',
    'na',
    'n.a.',
    'n.a',
    'n / a',
    'n\\a',
    'none',
    'none yet',
    'nothing',
    'nothing yet',
    'nil',
    'null',
    'no',
    'empty',
    'tbd',
    'tba',
    'tbc',
    'tbw',
    't.b.d.',
    'todo',
    'to do',
    'to-do',
    'fixme',
    'wip',
    'xxx',
    'xx',
    'x',
    '?',
    '??',
    '???',
    'pending',
    'later',
    'unknown',
    'not applicable',
    'not yet',
    'not yet defined',
    'not defined',
    'not defined yet',
    'not available',
    'not specified',
    'unspecified',
    'undefined',
    'no response',
    'no criteria',
    'no acceptance criteria',
    'coming soon',
    'to follow',
    'in progress',
    'see above',
    'see below',
    'same as above',
    'as above',
    'as below',
    'to be defined',
    'to be determined',
    'to be decided',
    'to be added',
    'to be discussed',
    'to be done',
    'to be filled',
    'to be filled in',
    'to be filled out',
    'to be completed',
    'to be confirmed',
    'to be announced',
    'to be written',
    'to be refined',
    'to be specified',
    'will be added',
    'will be added later',
    'will be defined',
    'lorem ipsum',
    'lorem ipsum dolor sit amet',
    'placeholder',
    'example',
    'sample',
    'foo',
    'bar',
    'foo bar',
    'asdf',
    'text',
    'your text',
    'etc',
    'etc.',
    'and so on',
    'keine',
    'keins',
    'nichts',
    'entfällt',
    'offen',
    'folgt',
    'noch offen',
    'wird ergänzt',
    'kommt noch',
    'noch zu definieren',
    'keine angabe',
    'nicht zutreffend',
    'aucun',
    'aucune',
    'néant',
    'rien',
    'à définir',
    'à compléter',
    'à venir',
    'à préciser',
    'sans objet',
    'ninguno',
    'ninguna',
    'nada',
    'por definir',
    'pendiente',
    'no aplica',
    'a definir',
    'nenhum',
    'nenhuma',
    'não se aplica',
    'pendente',
    'nessuno',
    'nessuna',
    'niente',
    'da definire',
    'non applicabile',
    'geen',
    'n.v.t.',
    'nvt',
    'nog te bepalen',
    'niet van toepassing',
    'brak',
    'nie dotyczy',
    'do uzupełnienia',
    'do ustalenia',
    'žádné',
    'žádná',
    'doplnit',
    'bude doplněno',
    'ingen',
    'inga',
    'inget',
    'ei ole',
    'yok',
    'belirlenecek',
    'нет',
    'отсутствует',
    'отсутствуют',
    'не определено',
    'уточняется',
    'позже',
    'немає',
    'відсутні',
    '无',
    '無',
    '没有',
    '暂无',
    '待定',
    '待补充',
    '待確認',
    '待填写',
    '略',
    'なし',
    '未定',
    '特になし',
    '後で',
    '없음',
    '미정',
    '추후',
    'لا يوجد',
    'לא רלוונטי',
    'אין',
    'không',
    'không có',
    'tidak ada',
  ].map(normalise),
);

const NUMBER =
  '(?:\\d+|[a-z]|one|two|three|four|five|first|second|third|n|x|eins|zwei|drei|un|deux|trois|uno|dos|tres)';
const THING =
  "(?:ac|acc|acs|(?:acceptance |success |completion |done )?(?:criteri(?:on|a|um|as)|tests?|conditions?|scenarios?|requirements?)|(?:checklist |list |bullet )?(?:items?|points?|bullets?|entry)|tasks?|sub-?tasks?|steps?|things?|goals?|outcomes?|results?|rules?|todos?|to-?dos?|examples?|features?|(?:akzeptanz|abnahme)kriteri(?:um|en)|kriteri(?:um|en)|punkt|critères?(?: d'acceptation)?|criterios?(?: de aceptación)?|critérios?(?: de aceit(?:e|ação))?|criteri[oa]?(?: di accettazione)?|acceptatiecriteri(?:um|a)|kryterium(?: akceptacji)?|критери[йи](?: при[её]мки)?|验收标准|标准|条件|基準|기준)";
const CRITERION =
  "(?:ac|acc|acs|(?:acceptance |success |completion |done )?(?:criteri(?:on|a|um|as)|conditions?)|(?:checklist |list |bullet )(?:items?|points?)|bullets?|(?:akzeptanz|abnahme)kriteri(?:um|en)|critères? d'acceptation|criterios? de aceptación|critérios? de aceit(?:e|ação)|criteri[oa]? di accettazione|kryteri(?:um|a) akceptacji|критери[йи] при[её]мки|验收标准)";
const ORDINAL = '(?:the |my |your |another |some |more |next |last |first |second |third |fourth )?';
const NUMBERED = new RegExp(
  `^(?:${ORDINAL}${THING}[\\s.:_#-]*${NUMBER}|${ORDINAL}${CRITERION}|(?:\\d+[.)]?|first|second|third|fourth|erstes|premier|première|primer|primero|primo|pierwsze)\\s*${THING})[\\s:.…]*$`,
  'iu',
);
const ORDINAL_THING = new RegExp(
  `^(?:your|my|insert|add|another|more|votre|tu|su|seu|uw|twoje)\\s+(?:.{0,30}\\s)?${THING}(?:\\s+(?:here|goes here|go here|text|hier|ici|aquí|aqui|qui|${NUMBER}))?[\\s:.…!]*$`,
  'iu',
);
const TODO =
  /^[[(<]?(?:TODO|TO DO|TBD|TBA|TBC|FIXME|WIP|XXX)\b[\])>]?(?:\s*[:\-–—.!…]|\s+(?:add|fill|write|define|describe|specify|insert|complete|update|acceptance|criteri|list|provide|determine|discuss|decide|clarify|to|with|by|later)|$)/;
const COMMAND =
  /^(?:please\s+|bitte\s+)?(?:describe|list|add|write|insert|enter|fill|fill in|fill out|specify|define|replace|provide|explain|put|type|delete|remove|use|include|state|outline|document|beschreib\w*|liste\w*|füge\w*|trage\w*|décri\w+|ajoute\w*|listez|describ[ae]\w*|añad\w+|lista\w*|adicion\w+|descrev\w+|descriv\w+|aggiung\w+|opisz|dodaj|wpisz|опишите|добавьте|перечислите|укажите|请填写|请描述|请列出|填写)(?=\s|[:：,]|[\p{Script=Han}]|$)/iu;
const COMMAND_OBJECT =
  /(?:\bhere\b|\bbelow\b|\bcriteri(?:on|a|os?)\b|\bcritères?\b|\bcritérios?\b|kriteri|\bacceptance\b|\bplaceholder\b|\btemplate\b|\bthis (?:line|text|section|list|checklist|comment|item|with)\b|\b(?:conditions?|things|requirements|outcomes|items|steps) (?:that|which|to|for)\b|\bwhat (?:must|should|has to|needs to|will|is|does)\b|\bhow (?:we|you|to|will|can|do)\b|\bas many as\b|\bif (?:any|needed|applicable|relevant)\b|\bbullet|критери|标准|\bici\b|\bhier\b|\baquí\b|\baqui\b)/iu;
const GHERKIN_FILLER = new Set(
  'a an the some any my our your this that these those is are am be been was has have should will can must i we they he she it user users system actor someone something somebody somewhere context precondition preconditions pre-condition pre-conditions condition conditions initial state situation action actions event events trigger triggers happens happen occurs occur performed performs perform taken takes take carried out do does did done outcome outcomes result results expected expectation observable consequence consequences behavior behaviour particular specific certain set of to in on with and or more one other another additional obtain observe see input output value role scenario how when x y z foo bar description describe here certain things thing starting point ensure ensures verify'.split(
    ' ',
  ),
);
const STEP_STARTS =
  /(?:^|[\s,;])(?:given|when|then|and|but|gegeben|angenommen|wenn|dann|und|étant donné(?: que?)?|quand|lorsque|alors|et|dado(?: que)?|cuando|entonces|quando|então)(?=[\s,:;[<({….]|$)/iu;
const PENDING =
  /^(?:(?:acceptance )?criteria )?(?:will|to|still to|yet to|needs? to) be (?:added|defined|determined|decided|discussed|filled(?: in)?|completed|confirmed|written|refined|specified|agreed|clarified|provided)(?:\s+(?:later|soon))?(?:\s+(?:by|after|during|once|with|in)\s.{1,40})?$/;
const BLANK = /^(?:[\s._…\-–—*~=]+|(?:\.{2,}|…|_{2,}|-{2,})\s*)$/u;
/** Nobody's template is longer; and what is longer is costly to look at. */
const MAX_TEMPLATE_CHARS = 1_000;
const PAIRS: Readonly<Record<string, string>> = {
  '[': ']',
  '{': '}',
  '<': '>',
  '［': '］',
  '【': '】',
  '(': ')',
  '«': '»',
};

/** Whether the text of an item or of a paragraph is unfilled template text. */
export function isPlaceholder(text: string): boolean {
  const plain = text.trim();
  if (plain.length > MAX_TEMPLATE_CHARS) return false;
  if (!plain || BLANK.test(plain) || isOnlyBox(plain)) return true;
  const folded = normalise(plain).replace(/^[\s"'*_(-]+(?=\S)|[\s"'*_.!…)-]+$/gu, '');
  if (NOTHING.has(folded) || NOTHING.has(normalise(plain))) return true;
  if (NUMBERED.test(folded) || PENDING.test(folded) || ORDINAL_THING.test(folded) || TODO.test(plain))
    return true;
  if (isBracketed(plain) || (COMMAND.test(plain) && COMMAND_OBJECT.test(plain))) return true;
  return isGherkinBlank(plain);
}

function isOnlyBox(text: string): boolean {
  const box = brokenBox(text);
  if (box)
    return text.slice(box.length).trim() === '' || (box.length > 0 && isBlankTail(text.slice(box.length)));
  return /^[[\]\s]+$/.test(text);
}

function isBlankTail(text: string): boolean {
  return BLANK.test(text) || text.trim() === '';
}

/** A text wholly in one pair of brackets is template help. Round ones only if they tell the author what to write. */
function isBracketed(text: string): boolean {
  const inner = text.replace(/[\s.:;,!?]+$/u, '').replace(/\.$/, '');
  const close = PAIRS[inner[0] ?? ''];
  if (!close || !inner.endsWith(close) || inner.length < 2) return false;
  const open = inner[0] ?? '';
  let depth = 0;
  for (let index = 0; index < inner.length; index += 1) {
    if (inner[index] === open) depth += 1;
    else if (inner[index] === close) depth -= 1;
    if (depth === 0 && index < inner.length - 1) return false;
  }
  const body = inner.slice(1, -1).trim();
  return open === '(' || open === '«'
    ? NOTHING.has(normalise(body)) || (COMMAND.test(body) && COMMAND_OBJECT.test(body))
    : true;
}

/** "Given [a precondition] when … then <an outcome>": every step is a blank or only template words. */
function isGherkinBlank(text: string): boolean {
  const kind = stepKind(text);
  if (kind === null || kind === 'and') return false;
  const steps = text.split(STEP_STARTS);
  const bodies = steps.map((step) => step.trim().replace(/[\s,;:]+$/u, '')).filter(Boolean);
  // One keyword with a word after it may be a sentence that only begins like a step.
  if (steps.length < 3)
    return steps.length === 2 && bodies.every((body) => BLANK.test(body) || isBracketed(body));
  return bodies.every(isBlankStep);
}

function isBlankStep(step: string): boolean {
  if (BLANK.test(step) || isBracketed(step)) return true;
  const unbracketed = withoutKeyword(step).replace(
    /\[[^\]]*\]|<[^>]*>|\{[^}]*\}|\([^)]*\)|\.{3}|…|_{2,}/gu,
    ' ',
  );
  const words = normalise(unbracketed)
    .split(/[^\p{L}\p{N}'-]+/u)
    .filter(Boolean);
  return words.every((word) => GHERKIN_FILLER.has(word));
}
