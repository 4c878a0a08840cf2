/**
 * How far a word that a user typed can stand for a word of the catalog: 1 is the same word, 0 another one. The first
 * letter must agree: typing errors are rare there, and `unlock` must never pass for `lock`, nor `desactivar` for `activar`.
 */
export function similarity(typed: string, known: string): number {
  if (typed === known) return 1;
  if (areUnlike(typed, known)) return 0;
  return Math.max(inflection(typed, known), mistyped(typed, known, Math.max(typed.length, known.length)));
}

function areUnlike(typed: string, known: string): boolean {
  return (
    Math.min(typed.length, known.length) < shortest(known) ||
    typed[0] !== known[0] ||
    Math.abs(typed.length - known.length) > 5
  );
}

/** The same for a word that is spelled as it was meant: only its ending may differ. */
export function inflection(typed: string, known: string): number {
  if (typed === known) return 1;
  if (areUnlike(typed, known)) return 0;
  const shorter = Math.min(typed.length, known.length);
  const longer = Math.max(typed.length, known.length);
  const shared = sharedStart(typed, known);
  if (isImperative(typed.slice(shared), known.slice(shared), shared)) return 0.92;
  if (shared < shorter && ![typed, known].every((word) => ENDING.test(word.slice(shared)))) return 0;
  return inflected(shared, shorter, longer);
}

/** Short verbs of the Romance languages: `abre` or `que abras` is said, and `abrir` is written down. */
function isImperative(typed: string, known: string, shared: number): boolean {
  return shared >= 3 && /^(?:[aeio]|[aei](?:s|n|m|is|mos|te))$/.test(typed) && /^(?:[aei]re?)$/.test(known);
}

/** How words of the Latin languages end when another form of them ends otherwise. Other scripts end as they like. */
const ENDING =
  /^(?:[^a-z].*|[aeiou]?(?:[rsntdmlz]|st|nt|re|te|ta|to|ti|se|ra|da|do|mos|nde|ndo|ng|ons|ent|ez|es|en|et|er|ed|em|a|e|i|o|as|os|is|on|an|am|ar|ir|io|ie|ia|ion|ione|ung|ar[ae]|er[ae]|ir[ae]|ato|ata|ado|ada|iert|ieren|iere))$/;

/** A Latin word of three letters has too many neighbours. Arabic and Devanagari write more with fewer. */
export function shortest(word: string): number {
  return word.charCodeAt(0) < 0x0250 ? 4 : 3;
}

function sharedStart(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i += 1;
  return i;
}

/** The same stem with another ending. */
function inflected(shared: number, shorter: number, longer: number): number {
  if (shared === shorter && longer - shorter <= 2) return 0.96;
  if (shared === shorter && shorter >= 5 && longer - shorter <= 4) return 0.9;
  if (shared >= 4 && (shared >= 0.7 * longer || longer - shared <= 2)) return 0.94;
  return 0;
}

/** In a short word one letter for another makes another word: `show`, `shop`. */
const SHORT = 6;
const SLIP = 0.87;

/** The same for a word that is not known: a slip of the finger, which is weaker evidence than the word. */
export function slip(typed: string, known: string): number {
  if (areUnlike(typed, known)) return 0;
  if (typed.length === known.length && typed.length < SHORT && !isSwapped(typed, known)) return 0;
  return mistyped(typed, known, Math.max(typed.length, known.length)) > 0 ? SLIP : 0;
}

function isSwapped(a: string, b: string): boolean {
  return [...a].sort().join() === [...b].sort().join();
}

function mistyped(typed: string, known: string, longer: number): number {
  const allowed = edits(longer);
  if (allowed === 0) return 0;
  const distance = editDistance(typed, known, allowed);
  if (distance > allowed) return 0;
  return distance === 1 ? (longer < 5 ? 0.85 : 0.94) : 0.88;
}

/** How many slips of the finger a word of this length may have. */
export function edits(length: number): number {
  if (length < 4) return 0;
  return length < 8 ? 1 : 2;
}

/** Insertions, deletions, replacements and swaps of neighbours; anything above the limit is only "more". */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return Math.min(previous[b.length]!, limit + 1);
}
