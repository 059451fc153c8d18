/** Gherkin's keywords in the languages we read (cucumber.io/docs/gherkin/languages), folded to lower case. */

export type StepKind = 'given' | 'when' | 'then' | 'and';

export const STEP_WORDS: Readonly<Record<StepKind, readonly string[]>> = {
  given: [
    'given', 'gegeben sei', 'gegeben seien', 'gegeben ist', 'gegeben', 'angenommen', 'étant donné que', 'étant donné qu',
    'étant donnée', 'étant donnés', 'étant donné', 'etant donné que', 'etant donné', 'soit', 'sachant que', 'sachant',
    'dado que', 'dada que', 'dado', 'dada', 'dados', 'dadas', 'dato', 'data', 'dati', 'date', 'gegeven', 'stel',
    'zakładając że', 'zakładając, że', 'zakładając', 'mając', 'za předpokladu', 'pokud', 'pokiaľ', 'givet', 'gitt', 'oletetaan',
    'diyelim ki', 'дано', 'допустим', 'пусть', 'припустимо', 'нехай', 'adott', 'fie ca', 'dat fiind', 'dată fiind', 'δεδομένου', 'δεδομένου ότι',
    'بفرض', 'با فرض', 'بافتراض', 'בהינתן', '假如', '假设', '假定', '假設', '给定', '前提', '먼저', '조건', '만일', 'biết', 'cho', 'diberikan', 'dengan',
  ],
  when: [
    'when', 'wenn', 'quand', "lorsqu'", 'lorsque', 'cuando', 'quando', 'als', 'wanneer', 'kiedy', 'jeżeli', 'jeśli', 'gdy',
    'když', 'keď', 'när', 'når', 'kun', 'eğer ki', 'когда', 'если', 'коли', 'якщо', 'majd', 'ha', 'amikor', 'cand', 'când', 'όταν',
    'متى', 'عندما', 'هنگامی', 'וقتی', 'כאשר', '当', '當', 'もし', '만약', 'khi', 'ketika',
  ],
  then: [
    'then', 'dann', 'alors', 'donc', 'entonces', 'então', 'entao', 'allora', 'dan', 'wtedy', 'pak', 'potom', 'tak', 'så',
    'niin', 'o zaman', 'тогда', 'то', 'тоді', 'akkor', 'atunci', 'τότε', 'اذاً', 'إذن', 'ثم', 'آنگاه', 'אז', 'אזי', '那么', '那麼', '则', '則', 'ならば', '그러면', 'thì', 'maka',
  ],
  and: [
    'and', 'but', '*', 'und', 'aber', 'et que', 'et', 'mais', 'y', 'e', 'pero', 'mas', 'ma', 'en', 'maar', 'i', 'oraz', 'ale',
    'a', 'a také', 'och', 'men', 'og', 'ja', 'mutta', 've', 'fakat', 'ama', 'и', 'но', 'а', 'та', 'і', 'але', 'és', 'de', 'si', 'și', 'dar', 'και', 'αλλά', 'و', 'لكن',
    'וגם', 'אבל', '而且', '并且', '同时', '但是', '且', 'かつ', 'しかし', '그리고', '하지만', 'và', 'nhưng', 'dan juga', 'tetapi',
  ],
};

export const SCENARIO_WORDS: readonly string[] = [
  'scenario outline', 'scenario template', 'scenario', 'example', 'szenariogrundriss', 'szenario', 'beispiel', 'plan du scénario',
  'scénario', 'exemple', 'esquema del escenario', 'escenario', 'ejemplo', 'esquema do cenário', 'cenário', 'exemplo',
  'schema dello scenario', 'abstract scenario', 'szablon scenariusza', 'scenariusz', 'przykład', 'osnova scénáře', 'scénář', 'scenár',
  'abstrakt scenario', 'senaryo', 'структура сценария', 'сценарий', 'пример', 'структура сценарію', 'сценарій', 'forgatókönyv',
  'scenariu', 'σενάριο', 'سيناريو', 'سناریو', 'תרחיש', '场景大纲', '场景', '剧本', '場景', 'シナリオアウトライン', 'シナリオ', '시나리오 개요', '시나리오',
  'kịch bản', 'skenario', 'tapaus',
];

/** Lines that structure a feature file and are no steps. */
export const OTHER_WORDS: readonly string[] = [
  'feature', 'rule', 'ability', 'business need', 'funktionalität', 'funktion', 'regel', 'fonctionnalité', 'règle', 'característica', 'regla',
  'funcionalidade', 'regra', 'funzionalità', 'regola', 'functionaliteit', 'właściwość', 'funkcja', 'požadavek', 'egenskap', 'özellik',
  'функция', 'функционал', 'функціонал', 'правило', 'خاصية', '功能', '機能', '기능', 'tính năng', 'fitur',
];

export const BACKGROUND_WORDS: readonly string[] = [
  'background', 'grundlage', 'hintergrund', 'voraussetzungen', 'contexte', 'antecedentes', 'contexto', 'contesto', 'achtergrond',
  'założenia', 'kontext', 'bakgrund', 'предыстория', 'контекст', 'передумова', 'الخلفية', '背景', '배경', 'bối cảnh',
];

export const EXAMPLES_WORDS: readonly string[] = [
  'examples', 'scenarios', 'beispiele', 'exemples', 'ejemplos', 'exemplos', 'esempi', 'voorbeelden', 'przykłady', 'příklady', 'exempel',
  'примеры', 'приклади', 'امثلة', '例子', '例', 'サンプル', '예',
];
