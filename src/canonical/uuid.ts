const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Validated, never normalised: an upper-case id is another id, and is refused before anything looks it up. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
