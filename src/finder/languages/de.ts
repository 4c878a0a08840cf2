import type { LanguageRules } from './rules.ts';

const PARTICIPLE =
  '\\p{L}*(?:ge\\p{L}{2,}(?:t|en)|(?:be|ent|er|ver|zer|miss|emp)\\p{L}{2,}(?:t|en)|\\p{L}+iert)';

export const de: LanguageRules = {
  language: 'de',
  courtesies: [
    '(?:wenn|falls) (?:es )?(?:möglich|geht|machbar)(?: ist)?', '(?:wenn|falls) (?:du|sie|ihr) (?:kannst|können|könnt|magst|möchten|so nett|zeit)[^,]*', 'wenn es (?:keine umstände macht|geht|passt)',
    'so (?:bald|schnell) wie möglich', 'kein (?:problem|stress)', 'nicht wahr',
  ],
  requests: [
    'bitte', '(?:kannst|könntest|würdest|magst) du', '(?:können|könnten|würden) (?:sie|wir)', '(?:kann|könnte|würde) (?:jemand|ich bitte)', '(?:ich|wir) (?:will|wollen|möchte|möchten|brauche|brauchen|muss|müssen|benötige|benötigen)',
    '(?:ich|wir) (?:hätte|hätten|würde|würden) (?:\\p{L}+ )*(?:gern|gerne)', '(?:hätte|hätten|würde|würden) (?:ich|wir) (?:\\p{L}+ )*(?:gern|gerne)', '(?:soll|sollen|muss|müssen) (?:\\p{L}+ )*werden', 'lass uns', 'mach mal', '(?:braucht|benötigt|möchte|will) (?:einen|eine|ein|seinen|seine|ihre|ihren)',
  ],
  sure: {
    ability: [
      '(?:kann|könnte|darf) (?:man|ich)', 'ist es (?:\\p{L}+ )?(?:möglich|erlaubt|sinnvoll|okay|in ordnung)', 'geht (?:es|das)', 'gibt es (?:eine|die) möglichkeit', 'wie (?:kann|könnte|soll|muss|macht|mache|geht|funktioniert)',
      'was (?:passiert|geschieht|wäre|bedeutet|heißt|ist,? wenn)', '(?:soll|sollte|sollten|muss) (?:ich|man|wir)(?= |\\?)', '(?:könnt|bietet|unterstützt) ihr', 'seid ihr in der lage', 'bist du in der lage', 'warum', 'wieso', 'weshalb',
    ],
    report: [
      `(?:habe|hab|hast|hat|haben|habt|hatte|hattest|hatten|hattet)(?: [^,]*)? ${PARTICIPLE}`, `${PARTICIPLE} (?:habe|hast|hat|haben|habt|hatte|hatten|wurde|wurden|worden|ist|sind|war|waren)`,
      `(?:wurde|wurden|worden|war|waren|ist|sind)(?: [^,]*)? ${PARTICIPLE}`, '(?:erzählt|berichtet|erzählte|berichtete|mitgeteilt|gehört|gelesen)(?: mir| uns)?', 'angeblich', 'laut',
    ],
    denial: [
      'auf (?:gar )?keinen fall', 'unter keinen umständen', 'keinesfalls', 'keineswegs', '(?<!noch |ob |warum )nicht(?! (?:vergessen|wahr|mehr))', 'nie(?:mals)?', 'nimmer', 'bloß nicht', 'verboten', 'untersagt', 'unzulässig',
      '(?:weigert|weigerte|weigern|abgelehnt|lehnt|lehnte|verweigert|verbietet|verbot)', 'kein(?:e[nmrs]?)? (?:notwendigkeit|grund|bedarf)', '(?:statt|anstatt|ohne)(?: [^,]*)? zu', 'niemand (?:darf|soll|sollte|kann)', 'sicher nicht', 'lieber nicht', 'lass (?:es|das)',
    ],
    condition: ['wenn', 'falls', 'sofern', 'sobald', 'solange', 'es sei denn', 'außer,? (?:wenn|dass)', 'vorausgesetzt', 'angenommen', 'bevor', 'nachdem', 'im falle?', 'sonst', 'erst (?:wenn|nachdem|dann)', 'bis (?:ich|er|sie|wir|du|es)'],
    quotation: ['(?:sagt|sagte|sagen|sagten|meint|meinte|schreibt|schrieb|ruft|rief|behauptet|behauptete|fragt|fragte|wiederholt)(?: ständig| immer| dauernd| mir| uns)?', '(?:steht|stand)(?: geschrieben)?', 'heißt es', 'der (?:satz|befehl|ausdruck)', 'das wort', 'die worte'],
    wish: ['(?:hätte|hätten|hättest)(?! (?:\\p{L}+ )*gerne?\\b)(?: [^,]*)? (?:\\p{L}*(?:ge|ver|be|ent|er)\\p{L}+(?:t|en)|sollen|können|müssen)', 'wäre(?:n)? [^,]* gewesen', 'irgendwann', 'eines tages', 'in zukunft', 'künftig', 'nächstes jahr', '(?:werde|wird|werden) (?:ich|er|sie|wir|es)', '(?:ich|er|wir) (?:werde|wird|werden)', '(?:ich|wir) (?:wollte|wollten|hoffe|hoffen|plane|planen|überlege|überlegen)', 'früher'],
  },
  likely: {
    report: ['gestern', 'vorgestern', 'letzte[nrs]? (?:woche|monat|jahr|nacht|montag|freitag)', 'vor (?:einer|einem|zwei|drei|\\p{L}+) (?:stunden?|tage?n?|wochen?|minuten?|monate?n?)', 'schon', 'bereits', 'vorhin', 'soeben', 'immer', 'meistens', 'oft', 'jeden (?:tag|morgen|abend)'],
  },
  told_form: /(?:te|test|ten|tet)$|ge\p{L}{2,}(?:t|en)$|^(?:be|ent|er|ver|zer)\p{L}+t$/u,
  irregular: {
    gib: 'geben', gibt: 'geben', nimm: 'nehmen', nimmt: 'nehmen', lies: 'lesen', liest: 'lesen', sieh: 'sehen', sprich: 'sprechen', wirf: 'werfen', hilf: 'helfen', iss: 'essen',
    triff: 'treffen', brich: 'brechen', vergiss: 'vergessen', miss: 'messen', lade: 'laden', storniere: 'stornieren', tu: 'tun', lass: 'lassen', schick: 'schicken', ruf: 'rufen', leg: 'legen', sag: 'sagen', hol: 'holen', zeig: 'zeigen',
  },
  separable: [
    'ab', 'an', 'auf', 'aus', 'bei', 'dar', 'durch', 'ein', 'fest', 'fort', 'frei', 'her', 'herunter', 'hin', 'hinzu', 'hoch', 'los', 'mit', 'nach', 'um', 'vor', 'weg', 'weiter', 'wieder', 'zu', 'zurück', 'zusammen', 'rück', 'heraus', 'hinaus', 'herauf',
  ],
};
