import { type Catalog, catalogOf } from '../../src/finder/catalog.ts';
import { type Simulation, simulationSchema } from '../../src/finder/simulation.ts';

/** Two domains that no set of sayings has: a radio station and a car park. What only reads runs without a yes, so most of it does. */

const READS = { risk: 'LOW', impactful: false, side_effecting: false, irreversible: false };
const ACTS = { risk: 'MEDIUM', impactful: false, side_effecting: true, irreversible: false };

const definitions: readonly object[] = [
  {
    id: 'listeners.show',
    ...READS,
    summary: { en: 'Show the number of listeners', de: 'Hörerzahl anzeigen' },
    phrases: { en: ['show the listeners', 'how many listeners are there'] },
    words: {
      en: { acts: ['show', 'display', 'count'], things: ['listeners', 'audience'] },
      de: { acts: ['zeigen', 'anzeigen'], things: ['Hörerzahl', 'Hörer'] },
      es: { acts: ['mostrar', 'enseñar', 'ver'], things: ['oyentes', 'audiencia'] },
      fr: { acts: ['montrer', 'afficher'], things: ['auditeurs', 'audience'] },
      it: { acts: ['mostrare', 'visualizzare'], things: ['ascoltatori', 'ascolti'] },
      pt: { acts: ['mostrar', 'exibir'], things: ['ouvintes', 'audiência'] },
      zh: { acts: ['显示', '查看'], things: ['听众人数', '听众'] },
      ja: { acts: ['表示', '見せる'], things: ['リスナー数', '聴取者'] },
      ar: { acts: ['عرض', 'أظهر'], things: ['المستمعين', 'عدد المستمعين'] },
      hi: { acts: ['दिखाना', 'दिखाओ'], things: ['श्रोता', 'श्रोताओं की संख्या'] },
    },
  },
  {
    id: 'jingle.play',
    ...ACTS,
    summary: { en: 'Play a jingle', de: 'Einen Jingle abspielen' },
    phrases: { en: ['play a jingle'] },
    words: {
      en: { acts: ['play', 'broadcast'], things: ['jingle'] },
      de: { acts: ['abspielen', 'spielen', 'senden'], things: ['Jingle'] },
      es: { acts: ['reproducir', 'poner', 'emitir'], things: ['sintonía', 'jingle'] },
      fr: { acts: ['jouer', 'passer', 'diffuser'], things: ['jingle', 'indicatif'] },
      it: { acts: ['riprodurre', 'mandare in onda', 'suonare'], things: ['jingle', 'sigla'] },
      pt: { acts: ['tocar', 'reproduzir'], things: ['jingle', 'vinheta'] },
      zh: { acts: ['播放'], things: ['片头曲', '台呼'] },
      ja: { acts: ['流す', '再生'], things: ['ジングル'] },
      ar: { acts: ['تشغيل', 'شغل'], things: ['الجنغل', 'الفاصل'] },
      hi: { acts: ['बजाना', 'चलाना'], things: ['जिंगल'] },
    },
  },
  {
    id: 'microphone.mute',
    ...ACTS,
    summary: { en: 'Mute a microphone', de: 'Ein Mikrofon stummschalten' },
    phrases: { en: ['mute the microphone'] },
    words: {
      en: { acts: ['mute', 'silence'], things: ['microphone', 'mic'] },
      de: { acts: ['stummschalten', 'stumm schalten'], things: ['Mikrofon', 'Mikro'] },
      es: { acts: ['silenciar', 'apagar'], things: ['micrófono'] },
      fr: { acts: ['couper', 'désactiver'], things: ['micro', 'microphone'] },
      it: { acts: ['silenziare', 'spegnere'], things: ['microfono'] },
      pt: { acts: ['silenciar', 'desligar'], things: ['microfone'] },
      zh: { acts: ['静音', '关掉'], things: ['麦克风', '话筒'] },
      ja: { acts: ['ミュート', '消音'], things: ['マイク'] },
      ar: { acts: ['كتم', 'اكتم'], things: ['الميكروفون'] },
      hi: { acts: ['म्यूट करना', 'बंद करना'], things: ['माइक', 'माइक्रोफोन'] },
    },
  },
  {
    id: 'spaces.show',
    ...READS,
    summary: { en: 'Show the free parking spaces', de: 'Freie Parkplätze anzeigen' },
    phrases: { en: ['show the free parking spaces'] },
    words: {
      en: { acts: ['show', 'list', 'display'], things: ['parking spaces', 'free spaces', 'parking spots'] },
      de: { acts: ['anzeigen', 'zeigen', 'auflisten'], things: ['Parkplätze', 'Stellplätze'] },
      es: { acts: ['mostrar', 'enseñar', 'listar'], things: ['plazas libres', 'plazas de aparcamiento'] },
      fr: { acts: ['montrer', 'afficher', 'lister'], things: ['places libres', 'places de parking'] },
      it: { acts: ['mostrare', 'elencare'], things: ['posti liberi', 'posti auto'] },
      pt: { acts: ['mostrar', 'listar'], things: ['vagas livres', 'lugares de estacionamento'] },
      zh: { acts: ['显示', '列出', '查看'], things: ['空车位', '车位'] },
      ja: { acts: ['表示', '一覧'], things: ['空き駐車スペース', '駐車スペース'] },
      ar: { acts: ['عرض', 'اعرض', 'أظهر'], things: ['المواقف الشاغرة', 'أماكن الوقوف'] },
      hi: { acts: ['दिखाना', 'दिखाओ', 'बताना'], things: ['खाली पार्किंग', 'पार्किंग की जगह'] },
    },
  },
  {
    id: 'barrier.open',
    ...ACTS,
    summary: { en: 'Raise the barrier', de: 'Die Schranke öffnen' },
    phrases: { en: ['raise the barrier', 'open the barrier'] },
    words: {
      en: { acts: ['raise', 'open', 'lift'], things: ['barrier', 'boom gate'] },
      de: { acts: ['öffnen', 'aufmachen', 'hochfahren'], things: ['Schranke'] },
      es: { acts: ['levantar', 'abrir', 'subir'], things: ['barrera'] },
      fr: { acts: ['lever', 'ouvrir'], things: ['barrière'] },
      it: { acts: ['alzare', 'aprire', 'sollevare'], things: ['sbarra'] },
      pt: { acts: ['levantar', 'abrir', 'subir'], things: ['cancela', 'barreira'] },
      zh: { acts: ['打开', '抬起', '升起'], things: ['道闸', '栏杆'] },
      ja: { acts: ['開ける', '上げる', '開く'], things: ['ゲート', '遮断機'] },
      ar: { acts: ['فتح', 'افتح', 'رفع'], things: ['الحاجز'] },
      hi: { acts: ['खोलना', 'उठाना'], things: ['बैरियर', 'फाटक'] },
    },
  },
  {
    id: 'car.find',
    ...READS,
    summary: { en: 'Find where a car is parked', de: 'Ein geparktes Auto finden' },
    phrases: { en: ['find a parked car', 'where is the car with the plate'] },
    words: {
      en: { acts: ['find', 'locate', 'show'], things: ['car', 'vehicle'] },
      de: { acts: ['finden', 'suchen', 'zeigen'], things: ['Auto', 'Wagen', 'Fahrzeug'] },
      es: { acts: ['buscar', 'localizar', 'encontrar'], things: ['coche', 'vehículo'] },
      fr: { acts: ['trouver', 'chercher', 'localiser'], things: ['voiture', 'véhicule'] },
      it: { acts: ['trovare', 'cercare'], things: ['auto', 'macchina'] },
      pt: { acts: ['encontrar', 'localizar', 'procurar'], things: ['carro', 'veículo'] },
      zh: { acts: ['查找', '找'], things: ['车', '车辆'] },
      ja: { acts: ['探す', '検索'], things: ['車', '車両'] },
      ar: { acts: ['ابحث عن', 'العثور على', 'إيجاد'], things: ['السيارة', 'المركبة'] },
      hi: { acts: ['ढूँढना', 'खोजना'], things: ['गाड़ी', 'कार'] },
    },
    fields: {
      plate: {
        type: 'string',
        pattern: '[A-Z]{2}-[0-9]{3,4}',
        extract: 'token',
        question: { en: 'Which plate?', de: 'Welches Kennzeichen?', fr: 'Quelle plaque ?' },
        formats: ['KT-4711', 'AB-123'],
      },
    },
  },
];

export function radioCatalog(): Catalog {
  const all: Simulation[] = definitions.map((given) =>
    simulationSchema.parse({
      version: 1,
      family: 'radio',
      access_action: (given as { id: string }).id,
      effect: { tool: 'noop', arguments: {} },
      ...given,
    }),
  );
  return catalogOf(all, new Map(all.map(({ id }) => [id, 'Active' as const])));
}
