/** A car park that hears ten languages, and what one person says to it in each. */

const BOTH = { version: 1, family: 'car-park', irreversible: false };

export const CAR_PARK: readonly { readonly id: string }[] = [
  {
    id: 'barrier.lower',
    ...BOTH,
    risk: 'MEDIUM',
    impactful: true,
    side_effecting: true,
    access_action: 'barrier.lower',
    summary: { en: 'Lower the barrier of a gate' },
    phrases: { en: ['lower the barrier'] },
    fields: { gate: gate({ en: 'Which gate?' }) },
    effect: { tool: 'note', arguments: { text: 'lowered {gate}' } },
    rollback_plan_ref: 'barrier.raise',
  } as { id: string },
  {
    id: 'barrier.raise',
    ...BOTH,
    risk: 'MEDIUM',
    impactful: true,
    side_effecting: true,
    access_action: 'barrier.raise',
    summary: {
      en: 'Raise the barrier',
      de: 'Die Schranke öffnen',
      es: 'Levantar la barrera',
      fr: 'Lever la barrière',
      it: 'Alzare la sbarra',
      pt: 'Levantar a cancela',
      zh: '打开道闸',
      ja: 'ゲートを開ける',
      ar: 'فتح الحاجز',
      hi: 'बैरियर खोलना',
    },
    phrases: { en: ['raise the barrier'] },
    words: {
      en: { acts: ['raise', 'open'], things: ['barrier'] },
      de: { acts: ['öffnen', 'aufmachen'], things: ['Schranke'] },
      es: { acts: ['levantar', 'abrir'], things: ['barrera'] },
      fr: { acts: ['lever', 'ouvrir'], things: ['barrière'] },
      it: { acts: ['alzare', 'aprire'], things: ['sbarra'] },
      pt: { acts: ['levantar', 'abrir'], things: ['cancela'] },
      zh: { acts: ['打开', '抬起'], things: ['道闸'] },
      ja: { acts: ['開ける', '上げる'], things: ['ゲート'] },
      ar: { acts: ['فتح', 'افتح'], things: ['الحاجز'] },
      hi: { acts: ['खोलना', 'उठाना'], things: ['बैरियर'] },
    },
    fields: {
      gate: gate({
        en: 'Which gate?',
        de: 'Welches Tor?',
        es: '¿Qué puerta?',
        fr: 'Quelle porte ?',
        it: 'Quale varco?',
        pt: 'Qual portão?',
        zh: '哪个门？',
        ja: 'どのゲートですか？',
        ar: 'أي بوابة؟',
        hi: 'कौन सा गेट?',
      }),
    },
    effect: { tool: 'note', arguments: { text: 'raised {gate}' } },
    rollback_plan_ref: 'barrier.lower',
  } as { id: string },
  {
    id: 'spaces.show',
    ...BOTH,
    risk: 'LOW',
    impactful: false,
    side_effecting: false,
    access_action: 'spaces.show',
    summary: { en: 'Show the free parking spaces' },
    phrases: { en: ['show the free parking spaces'] },
    words: {
      en: { acts: ['show'], things: ['free parking spaces', 'parking spaces'] },
      de: { acts: ['anzeigen', 'zeigen'], things: ['freie Parkplätze', 'Parkplätze'] },
      es: { acts: ['mostrar', 'enseñar'], things: ['plazas libres'] },
      fr: { acts: ['afficher', 'montrer'], things: ['places libres'] },
      it: { acts: ['mostrare'], things: ['posti liberi'] },
      pt: { acts: ['mostrar'], things: ['vagas livres'] },
      zh: { acts: ['显示'], things: ['空车位'] },
      ja: { acts: ['表示'], things: ['空き駐車スペース'] },
      ar: { acts: ['عرض', 'اعرض'], things: ['المواقف الشاغرة'] },
      hi: { acts: ['दिखाना', 'दिखाओ'], things: ['खाली पार्किंग'] },
    },
    effect: { tool: 'say', arguments: { word: '12' } },
  } as { id: string },
];

function gate(question: Readonly<Record<string, string>>): object {
  return { type: 'string', pattern: 'G-[0-9]{1,3}', extract: 'token', question, formats: ['G-1', 'G-22'] };
}

export interface Talk {
  readonly language: string;
  readonly name: string;
  /** A goal without the value that it needs, and the value. */
  readonly goal: string;
  readonly value: string;
  /** What is no yes, and what is one. */
  readonly acknowledged: string;
  readonly agreed: string;
  /** The same act, denied. */
  readonly denied: string;
  /** Something that only reads. */
  readonly read: string;
}

const talk = (
  language: string,
  name: string,
  ...said: readonly [string, string, string, string, string, string]
): Talk => {
  const [goal, value, acknowledged, agreed, denied, read] = said;
  return { language, name, goal, value, acknowledged, agreed, denied, read };
};

export const TALKS: readonly Talk[] = [
  talk(
    'en',
    'English',
    'please raise the barrier',
    'G-1',
    'okay',
    'yes, go ahead',
    'under no circumstances raise the barrier of G-1',
    'show me the free parking spaces',
  ),
  talk(
    'de',
    'Deutsch',
    'Mach bitte die Schranke auf',
    'Tor G-2',
    'na gut',
    'klar, mach das',
    'Öffne auf keinen Fall die Schranke von G-2',
    'Zeig mir die freien Parkplätze',
  ),
  talk(
    'es',
    'Español',
    'levanta la barrera, por favor',
    'la G-3',
    'vale',
    'sí, adelante',
    'ni se te ocurra levantar la barrera de G-3',
    'muéstrame las plazas libres',
  ),
  talk(
    'fr',
    'Français',
    "ouvrez la barrière, s'il vous plaît",
    'la G-4',
    "d'accord",
    'oui, allez-y',
    'il est interdit de lever la barrière de G-4',
    'affiche les places libres',
  ),
  talk(
    'it',
    'Italiano',
    'alza la sbarra per favore',
    'il G-5',
    'va bene',
    'sì, procedi',
    'non alzare la sbarra di G-5',
    'mostrami i posti liberi',
  ),
  talk(
    'pt',
    'Português',
    'abre a cancela, por favor',
    'o G-6',
    'tá bom',
    'sim, pode fazer',
    'não abra a cancela do G-6',
    'mostra as vagas livres',
  ),
  talk(
    'zh',
    '中文',
    '请把道闸打开',
    'G-7',
    '好的',
    '是的，请执行',
    '千万不要打开 G-7 的道闸',
    '请显示空车位',
  ),
  talk(
    'ja',
    '日本語',
    'ゲートを開けてください',
    'G-8です',
    '了解です',
    'はい、お願いします',
    'G-8のゲートを開けないでください',
    '空き駐車スペースを表示して',
  ),
  talk(
    'ar',
    'العربية',
    'افتح الحاجز من فضلك',
    'البوابة G-9',
    'حسنا',
    'نعم، نفذ',
    'لا تفتح الحاجز G-9',
    'اعرض المواقف الشاغرة',
  ),
  talk(
    'hi',
    'हिन्दी',
    'कृपया बैरियर खोलो',
    'G-10',
    'ठीक है',
    'हाँ, कर दो',
    'G-10 का बैरियर मत खोलो',
    'खाली पार्किंग दिखाओ',
  ),
];
