const frozen = new WeakSet<object>();

/** The same value, frozen: it can be returned to one caller and used for the next. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFrozen(part);
  frozen.add(value);
  return Object.freeze(value);
}

/** Whether nothing of this value can change: `deepFrozen` made it. */
export function isDeepFrozen(value: unknown): value is object {
  return typeof value === 'object' && value !== null && frozen.has(value);
}
