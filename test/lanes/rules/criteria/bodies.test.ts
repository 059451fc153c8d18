import { describe, expect, test } from 'vitest';
import { readCriteria } from '../../../../lanes/rules/criteria/index.ts';
import { type Body, brief } from './bodies.ts';
import { items } from './bodies-items.ts';
import { labels } from './bodies-labels.ts';
import { shapes } from './bodies-shapes.ts';

function check({ body, section, criteria, rest }: Body): void {
  const { criteria: read, section: title, ...others } = readCriteria(body);
  expect(read.map(brief)).toEqual(criteria);
  expect(title).toBe(section);
  expect(others).toEqual(rest ?? {});
}

describe('what opens and ends a section', () => {
  test.each(labels)('$title', check);
});

describe('items, lines and titles', () => {
  test.each(items)('$title', check);
});

describe('scenarios, tables and unfilled templates', () => {
  test.each(shapes)('$title', check);
});

const ACCEPTANCE = [
  'Abnahmekriterien',
  'Critères d’acceptation :',
  'CRITERIOS DE ACEPTACION',
  'Critérios de aceitação',
  'Criteri di accettazione',
  'Kryteria akceptacji',
  'Akceptační kritéria',
  'Acceptatie criteria',
  'Acceptanskriterier',
  'Akseptansekriterier',
  'Hyväksymiskriteerit',
  'Elfogadási kritériumok',
  'Criterii de acceptare',
  'Kabul kriterleri',
  'Κριτήρια αποδοχής',
  'Критерии приемки',
  'Критерії приймання',
  '验收标准：',
  '驗收標準',
  '【验收标准】',
  '受け入れ基準',
  '受入条件',
  '인수 조건',
  'معايير القبول',
  'معیارهای پذیرش',
  'קריטריונים לקבלה',
  'स्वीकृति मानदंड',
  'เกณฑ์การยอมรับ',
  'Tiêu chí chấp nhận',
  'Kriteria Penerimaan',
  'Akzeptanzkritereien',
  '\u200fمعايير القبول\u200f',
];
const DONE = [
  'Définition de terminé',
  'Definición de Hecho',
  '完了条件',
  '완료 조건',
  'Критерии готовности',
  'Definition Of Done / DoD',
];

describe('names in other languages', () => {
  test.each(ACCEPTANCE)('%s is an acceptance section', (name) => {
    const body = `## Definition of Done\n- reviewed\n\n## ${name}\n- the door opens\n`;
    expect(readCriteria(body)).toMatchObject({
      criteria: [{ text: 'the door opens' }],
      secondary: [{ section: 'Definition of Done', items: ['reviewed'] }],
    });
  });

  test.each(DONE)('%s is used where no acceptance section exists', (name) => {
    const { criteria, section } = readCriteria(`## ${name}\n- the door opens\n`);
    expect(criteria.map(brief)).toEqual(['- the door opens']);
    expect(section).toBe(name);
  });

  test.each(['Acceptance tests failed', 'Requirements', 'Scenarios', '定義', 'Kriterienkatalog'])(
    '%s with colon-free prose around is none',
    (name) => {
      expect(readCriteria(`We spoke of it: ${name} came up.\n\n- [ ] the door opens\n`).section).toBeNull();
    },
  );
});

test.each([null, '', ' \n\t'])('a body of %j has no criteria', (body) => {
  expect(readCriteria(body)).toEqual({ criteria: [], section: null, fallbackTasklist: [] });
});
