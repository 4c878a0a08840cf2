import { similarity } from './similar.ts';
import type { Simulation } from './simulation.ts';
import { isUnspaced, type Spoken, spokenIn, wordOf } from './speech.ts';
import { STOP_WORDS } from './stop-words.ts';

/**
 * Whether everything that was said is accounted for: a word of the simulation, a value of its fields, or one of the small words of any
 * request. What runs without a yes needs that: "tell me a story about order 48213" names an order and wants something else.
 */
export function isAccounted(utterance: string, simulation: Simulation, values: readonly Place[]): boolean {
  return strangersIn(utterance, simulation, values).length === 0;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** What was said and is not accounted for. */
export function strangersIn(utterance: string, simulation: Simulation, values: readonly Place[]): string[] {
  const spoken = spokenIn(utterance).filter(
    ({ start, end }) => !values.some((value) => start < value.end && value.start < end),
  );
  const texts = textsOf(simulation);
  const strange = strangeWords(
    spoken.filter((word) => !isUnspaced(word.text) && !isSmall(word)),
    texts,
  );
  return [
    ...strange.map(({ start, end }) => utterance.slice(start, end)),
    ...strangeRuns(
      spoken.filter(({ text }) => isUnspaced(text)),
      texts,
    ),
  ];
}

function textsOf({ summary, phrases, words = {}, fields }: Simulation): string[] {
  return [
    ...Object.values(summary),
    ...Object.values(phrases).flat(),
    ...Object.values(words).flatMap(({ acts, things }) => [...acts, ...things]),
    ...Object.values(fields).flatMap(({ extract, question, words: named = {}, enum: values = [] }) => [
      ...(typeof extract === 'object' ? extract.after : []),
      ...Object.values(question),
      ...Object.values(named).flat(),
      ...values,
    ]),
  ];
}

/** They are said with any request, and change none. */
const POLITE = new Set(
  `please kindly quickly right today now show give tell me for number no dear team guys bitte mal gleich heute jetzt schnell nummer por
  favor porfa ahora hoy numero svp vite maintenant aujourdhui merci numero subito adesso oggi numero per agora hoje ja numero الان
  اليوم من فضلك رقم سريعا कृपया ज़रा अभी आज नंबर जल्दी कर दीजिए`
    .split(/\s+/)
    .map(wordOf),
);

const isSmall = ({ text }: Spoken): boolean => text.length < 2 || STOP_WORDS.has(text) || POLITE.has(text);

/** A word that is nearly one of the simulation's is a form of it. */
const NEARLY = 0.9;

/** Most requests use the words of its first phrases, so the texts are read one by one until nothing is left. */
function strangeWords(said: readonly Spoken[], texts: readonly string[]): readonly Spoken[] {
  const words = new Set<string>();
  let left = said;
  for (const text of texts) {
    if (left.length === 0) return left;
    for (const word of spokenIn(text)) words.add(word.text);
    left = left.filter(({ forms }) => !forms.some((form) => words.has(form)));
  }
  const isNearly = (form: string): boolean => {
    for (const word of words) if (similarity(form, word) >= NEARLY) return true;
    return false;
  };
  return left.filter(({ forms }) => !forms.some(isNearly));
}

/** What Chinese and Japanese requests have around the act and the thing. */
const SMALL_RUNS =
  /请|帮|我们|我|一下|的|了|吧|吗|呢|这|那|把|给|要|想|个|号|在|是|有|现在|今天|你|您|能|可以|看|查|下|本|辆|只|今|番|願|見|教|下|知|何|号|御|少々|[\p{Script=Hiragana}\u30fc]/gu;

function strangeRuns(characters: readonly Spoken[], texts: readonly string[]): string[] {
  let rest = characters.map(({ text }) => text).join('');
  const runs = texts.filter(isUnspaced).sort((a, b) => b.length - a.length);
  for (const run of runs) rest = rest.replaceAll(run, ' ');
  return rest
    .replace(SMALL_RUNS, '')
    .split(/\s+/u)
    .filter((run) => run !== '');
}
