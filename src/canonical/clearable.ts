/**
 * Bytes of a secret, all zero. V8 keeps typed arrays of up to 64 bytes in its own heap, copies them when native code asks for them,
 * and leaves the first copy where no program can clear it: so these have their memory elsewhere from the beginning.
 */
export function clearableBytes(length: number): Buffer {
  return Buffer.from(new ArrayBuffer(length));
}

/** A copy of a secret that can be cleared. */
export function clearableCopy(bytes: Uint8Array): Buffer {
  const copy = clearableBytes(bytes.length);
  copy.set(bytes);
  return copy;
}
