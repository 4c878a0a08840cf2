import { UUID_FORM } from './form.ts';

/** Validated, never normalised: an upper-case id is another id, and is refused before anything looks it up. */
export function isUuid(text: string): boolean {
  return UUID_FORM.test(text);
}

/** A UUID, or at least its first 4 characters: fewer are typed by mistake. */
export function isIdBeginning(text: string): boolean {
  return (
    text.length >= 4 && text.length <= FORM.length && UUID_FORM.test(`${text}${FORM.slice(text.length)}`)
  );
}

const FORM = '00000000-0000-0000-0000-000000000000';
