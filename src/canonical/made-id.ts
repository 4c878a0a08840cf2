/** An id that follows from a digest: no caller can aim it at one that is there already. */
export function idOfDigest(digest: string): string {
  // Version 8 of RFC 9562: made by the application, from a digest.
  const hex = `${digest.slice(0, 12)}8${digest.slice(13, 16)}a${digest.slice(17, 32)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
