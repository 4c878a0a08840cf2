const frozen = new WeakSet<object>();

/** The same value, frozen: it can be returned to one caller and used for the next. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  freeze(value);
  frozen.add(value);
  return value;
}

function freeze(value: object): void {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) freeze(part);
  }
  Object.freeze(value);
}

/** Whether nothing of this value can change: `deepFrozen` was given it. Of a part of such a value that is not known. */
export function isDeepFrozen(value: unknown): value is object {
  return typeof value === 'object' && value !== null && frozen.has(value);
}
