/**
 * How a Hindi verb is said, from whatever form its author wrote. A verb is a stem with an ending (खोलना, खोलो, खोलें, खोलिए), or a stem with a
 * helping verb (खोल दो, खोल दीजिए). Many acts are a noun with the verb "do" (बंद करना): there the noun tells the act, and "do" changes.
 */

const DO = [
  'कर',
  'करो',
  'करें',
  'करे',
  'करना',
  'करनी',
  'करने',
  'करिए',
  'कीजिए',
  'कीजिये',
  'करवा',
  'करवाना',
  'करवानी',
  'करवाइए',
  'करा',
];
const HELPING = /^(?:दो|दें|दे|देना|देने|दीजिए|दीजिये|लो|लें|ले|लेना|लीजिए|लीजिये|डालो)$/u;
/** In the order in which they are tried: the longer ending first. */
const ENDINGS = /(?:ाइए|ाइये|इए|इये|िए|िये|ना|नी|ने|ओ|ो|एँ|एं|ें|ए|े)$/u;
const VOWEL = /[ाीूेैोौ]$/u;

export function hindiForms(act: string): string[] {
  const words = act.split(' ');
  const has_helping = words.length > 1 && HELPING.test(words.at(-1)!);
  const verb = has_helping ? words.slice(0, -1) : words;
  const before = verb.slice(0, -1).join(' ');
  const last = verb.at(-1)!;
  if (DO.includes(last)) return before === '' ? [] : DO.map((form) => `${before} ${form}`);
  const stem = has_helping ? last : stemOf(last);
  if (stem === null) return [];
  const forms = VOWEL.test(stem) ? afterVowel(stem) : afterConsonant(stem);
  return forms.map((form) => (before === '' ? form : `${before} ${form}`));
}

/** A stem shorter than this is a word of its own too often: the endings alone are added to it. */
const SHORTEST = 2;

function stemOf(word: string): string | null {
  const ending = ENDINGS.exec(word)?.[0];
  if (ending === undefined) return null;
  const stem = word.slice(0, -ending.length) + (ending.startsWith('ाइ') ? 'ा' : '');
  return stem.length >= SHORTEST ? stem : null;
}

const afterConsonant = (stem: string): string[] => [
  ...(stem.length > SHORTEST ? [stem] : []),
  ...['ना', 'नी', 'ने', 'ो', 'ें', 'िए', 'िये', 'ूँ'].map((ending) => stem + ending),
];

const afterVowel = (stem: string): string[] => [
  stem,
  ...['ना', 'नी', 'ने', 'ओ', 'एँ', 'एं', 'इए', 'इये', 'ऊँ'].map((ending) => stem + ending),
];
