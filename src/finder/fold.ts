/** The text in one spelling: compatibility forms, case, accents, vowel signs and letter variants folded. */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(/[ًٌٍَُِّْٰـ]/g, '')
    .normalize('NFC')
    .replace(/ß/g, 'ss')
    .replace(/ى/g, 'ي')
    .replace(/ة/g, 'ه')
    .replace(/ँ/g, 'ं');
}

/** Accents of Latin, Greek and Cyrillic, the hamza and madda of Arabic, the nukta of Devanagari. */
const MARKS = /[\u0300-\u036f\u0653-\u0655\u093c]/g;
