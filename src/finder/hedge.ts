import { folded } from './fold.ts';
import { similarity } from './similar.ts';
import type { Simulation } from './simulation.ts';
import { deniedIn, isDenial, isUnspaced, type Spoken, spokenIn, wordOf } from './speech.ts';
import { STOP_WORDS } from './stop-words.ts';
import { blankedData } from './text.ts';

/**
 * Goals that are denied or only thought about: "never delete it", "should I delete it?". Nothing of the kind goes on
 * without a question. This reads more as a denial than speech.ts, which weighs candidates: here too much costs a question,
 * and too little runs what the user told us not to run.
 */
export interface Hedge {
  /** The words that are denied, by place. */
  readonly denied: ReadonlySet<number>;
  /** The words that deny, by place. A simulation that has them for its own act is not denied by them. */
  readonly by: ReadonlySet<number>;
  /** A word such as "stop" or "cancel" at the very beginning. It denies every simulation that does not know it. */
  readonly leading: number | null;
  readonly is_hypothetical: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).map(wordOf));

/** Beside those of speech.ts: they deny what follows, however far away. */
const NEVER = words(
  `never nor neither mustnt wouldnt wont avoid refrain nunca jamás tampoco evita evite jamais évite évitez nie niemals
  vermeide mai evitare nenhum عدم كلا بلا لست مش أبدا إياك ممنوع nobody niemand keiner nadie ninguem nessuno`,
);
/** By themselves, as a clause of their own, they stop what is beside them. */
const STOPS = words(
  `stop halt abort cancel wait stopp warte arrête arrêtez attends alto detente espera pare espere fermati aspetta basta
  توقف قف रुको रुकिए ठहरो`,
);
/** To begin with a no corrects what was said before. To end with it takes back what was just said. */
const TAKES_BACK = words('no nope not nein nicht non não nao لا नहीं never nunca jamais nie mai');

const ZH =
  /不要|不用|不想|不必|不准|不许|不得|不能让|无需|不是|请勿|切勿|勿|莫|禁止|停止|从不|永不|绝不|算了|(?<![特区级类分性个辨])别(?![人的名])/gu;
const JA =
  /ないで|なくてい|なくてよ|なくて結構|たくな|ないほうが|ない方が|てはいけ|てはだめ|ではだめ|するな|[るすくうつむぶぐ]な$|しません|せずに|ずに|不要|禁止|必要はな|やめて|やめろ|ストップ|待って/gu;

const CONDITIONS = [
  /\b(?:what|and) if\b|\bwhat (?:would|will) happen|\bwhat happens (?:if|when)|\b(?:should|shall|ought|must) (?:i|we|one|it|he|she|they)\b/u,
  /\b(?:if|whether|once) (?:i|we) (?:were|was|had|would|should|could|did|want\w*|decided?)\b|\bwould it (?:be|make)\b|\bis it (?:ok|okay|wise|safe|right|better|worth)\b/u,
  /\b(?:suppose|supposing|imagine|assuming|hypothetically|in theory|let us say|pretend)\b|\b(?:not|un)\s?sure (?:if|whether|about)|\bwondering (?:if|whether)\b|\bwhether to\b|\bthinking (?:about|of)\b/u,
  /\bque (?:pasa|pasaria|ocurre|ocurriria|sucede|sucederia) (?:si|cuando)\b|\by si\b|\bsupon(?:gamos|iendo)?\b|\bimagin(?:a|emos|ate)\b|\bhipoteticamente\b|\bno se si\b/u,
  /\bet si\b|\bque se passe|\bque se passerait|\bqu.arrive|\b(?:dois|devrais|puis) je\b|\b(?:devons|devrions) nous\b|\b(?:faut|faudrait) il\b|\b(?:doit|devrait) on\b|\bsupposons\b|\bimaginons\b|\bje ne sais pas si\b/u,
  /\bwas (?:ware|passiert|passierte|ist|geschieht),? wenn\b|\b(?:soll|sollte|sollen|sollten|muss|mussen) (?:ich|wir|man)\b|\bangenommen\b|\bstell dir vor\b|\bmal angenommen\b|\bnicht sicher,? ob\b/u,
  /\be se\b|\b(?:o )?que (?:acontece|aconteceria) (?:se|quando)\b|\bsuponha(?:mos)?\b|\b(?:cosa|che) (?:succede|succederebbe|accade) (?:se|quando)\b|\bsupponiamo\b|\bimmagin(?:a|iamo)\b|\bnao sei se\b|\bnon so se\b/u,
  /\b(?:just|only) (?:kidding|joking)\b|\bnever ?mind\b|\bforget (?:it|that|about it)\b/u,
  /如果我|要是我|假如|假设|倘若|会怎么样|会怎样|会发生什么|应不应该|该不该|要不要|是否应该|是不是应该|我应该.*[吗呢?]|我该.*[吗呢?]/u,
  /もし|仮に|としたら|したらどう|たらどうな|べきですか|べきでしょうか|べきか|べき\?|(?:方|ほう)がいいですか|(?:方|ほう)がいい\?|(?:方|ほう)がよいですか|(?:方|ほう)がいいでしょうか/u,
  /ماذا لو|ماذا يحدث|ماذا سيحدث|هل (?:يجب|ينبغي|علي|علينا|من الافضل)|لنفترض|افترض|تخيل/u,
  /अगर (?:मैं|हम)|क्या होगा|क्या (?:मुझे|हमें)|मान लो|मान लीजिए|करना चाहिए क्या/u,
];
/** "I must" is a wish and "must I?" is none, and some languages tell them apart only by the mark. */
const ASKED_DUTY =
  /\b(?:debo|debemos|deberia|deberiamos|devo|devemos|deveria|deveriamos|dovrei|dovremmo|dobbiamo|should|चाहिए)(?![\p{L}\p{M}]).*\?/u;

export function hedgeIn(utterance: string, spoken: readonly Spoken[]): Hedge {
  const denied = new Set(deniedIn(spoken));
  const by = new Set<number>();
  spoken.forEach((word, i) => {
    if (!isDenial(word) && !NEVER.has(word.text)) return;
    by.add(i);
    if (denied.has(i + 1) || NEVER.has(word.text) || isDevanagari(word)) denyClause(spoken, i, denied);
    if (spoken[i + 1]?.clause !== word.clause) denyAll(spoken, word.clause, denied);
  });
  denyUnspacedClauses(spoken, denied, by);
  denyBesideStops(spoken, denied, by);
  const leading = STOPS.has(spoken[0]?.text ?? '') ? 0 : null;
  return { denied, by, leading, is_hypothetical: isHypothetical(utterance) };
}

const isDevanagari = ({ text }: Spoken): boolean => /^\p{Script=Devanagari}/u.test(text);

/** The rest of the clause; in Hindi the denial stands between the thing and the act. */
function denyClause(spoken: readonly Spoken[], from: number, denied: Set<number>): void {
  const { clause } = spoken[from]!;
  const first = isDevanagari(spoken[from]!) ? 0 : from + 1;
  for (let i = first; i < spoken.length; i++) if (i !== from && spoken[i]!.clause === clause) denied.add(i);
}

function denyAll(spoken: readonly Spoken[], clause: number, denied: Set<number>): void {
  spoken.forEach((word, i) => {
    if (word.clause === clause) denied.add(i);
  });
}

function denyUnspacedClauses(spoken: readonly Spoken[], denied: Set<number>, by: Set<number>): void {
  for (const clause of new Set(spoken.map((word) => word.clause))) {
    const places = spoken.flatMap((word, i) => (word.clause === clause ? [i] : []));
    const line = places.map((i) => (spoken[i]!.text.length === 1 ? spoken[i]!.text : ' ')).join('');
    for (const { index, 0: found } of [...line.matchAll(ZH), ...line.matchAll(JA)])
      places.forEach((place, i) => {
        if (i >= index && i < index + found.length) by.add(place);
        else denied.add(place);
      });
  }
}

/** "Stop: ...", "do not, in any case, ...", and "..., no!": a clause that only denies is about those beside it. */
function denyBesideStops(spoken: readonly Spoken[], denied: Set<number>, by: Set<number>): void {
  const last = spoken.at(-1)?.clause ?? 0;
  for (let clause = 0; clause <= last; clause++) {
    const places = spoken.flatMap((word, i) => (word.clause === clause ? [i] : []));
    const here = places.map((i) => spoken[i]!);
    if (places.length === 0 || !places.every((i) => isSmall(spoken[i]!) || isUnspacedDenial(spoken, i, by)))
      continue;
    const takes_back =
      clause === last && last > 0 && here.some((word) => TAKES_BACK.has(word.text) || isUnspaced(word.text));
    if (!takes_back && !isStop(here)) continue;
    for (const i of places) by.add(i);
    spoken.forEach((word, i) => {
      if (takes_back ? word.clause < clause : word.clause > clause) denied.add(i);
    });
  }
}

const isSmall = (word: Spoken): boolean =>
  STOP_WORDS.has(word.text) || STOPS.has(word.text) || NEVER.has(word.text) || isDenial(word);

const isUnspacedDenial = (spoken: readonly Spoken[], i: number, by: ReadonlySet<number>): boolean =>
  by.has(i) && isUnspaced(spoken[i]!.text);

function isStop(clause: readonly Spoken[]): boolean {
  const texts = clause.map(({ text }) => text);
  const is_stop = texts.some(
    (text) => STOPS.has(text) || NEVER.has(text) || BARE.has(text) || isUnspaced(text),
  );
  return is_stop || isDoNot(texts);
}

/** "Do not" and its like, with nothing behind it. */
const BARE = words('dont doesnt shouldnt');
const isDoNot = (texts: readonly string[]): boolean => /\bdo not\b/.test(texts.join(' '));

/** Whether any of a text is denied or only thought about. */
export function isHedged(text: string): boolean {
  const spoken = spokenIn(text);
  const { by, is_hypothetical } = hedgeIn(text, spoken);
  return by.size > 0 || is_hypothetical;
}

interface Said {
  readonly spoken: readonly Spoken[];
  readonly hedge: Hedge;
}

/** Whether what the simulation was known by is denied. Its own phrases may deny: "do not disturb". */
export function isPhraseHedged(
  { spoken, hedge }: Said,
  matched: readonly string[],
  simulation: Simulation,
): boolean {
  const { denied, leading, is_hypothetical } = hedge;
  const is_stopped = leading !== null && !isEvidence(spoken[leading]!, matched);
  const is_denied = spoken.some((word, i) => denied.has(i) && isEvidence(word, matched));
  if (is_stopped || (!is_denied && !is_hypothetical)) return is_stopped;
  const own = [...Object.values(simulation.summary), ...Object.values(simulation.phrases).flat()];
  return !own.some(
    (phrase) =>
      (!is_denied || deniesAsMuch(phrase, said(spoken, hedge))) &&
      (!is_hypothetical || isHypothetical(phrase)),
  );
}

const said = (spoken: readonly Spoken[], { by }: Hedge): readonly string[] =>
  [...by].map((i) => spoken[i]!.text).sort();

/** Whether a simulation was known by this word. */
export function isEvidence({ text, forms }: Spoken, matched: readonly string[]): boolean {
  return matched.some((term) =>
    isUnspaced(text) ? term.includes(text) : forms.some((form) => similarity(form, term) > 0),
  );
}

function deniesAsMuch(phrase: string, words: readonly string[]): boolean {
  const spoken = spokenIn(phrase);
  return said(spoken, hedgeIn(phrase, spoken)).join() === words.join();
}

function isHypothetical(utterance: string): boolean {
  const plain = folded(blankedData(utterance))
    .replace(/[؟？]/g, '?')
    .replace(/['’-]/g, ' ')
    .replace(/\s+/g, ' ');
  return CONDITIONS.some((pattern) => pattern.test(plain)) || ASKED_DUTY.test(plain);
}
