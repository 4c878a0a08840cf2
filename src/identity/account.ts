/** An account of an operating system, as its own host names it. It is no proof: it tells two people on one machine apart. */
export interface Account {
  readonly host: string;
  /** Names the machine, hashed; null where it has no id. */
  readonly machine: string | null;
  readonly uid: number;
  /** The name of the account; its uid where it has none. */
  readonly user: string;
}

/** Whether two acts may come from one account. What is not known cannot be told apart. */
export function mayBeSameAccount(a: Account | null, b: Account | null): boolean {
  if (a === null || b === null) return true;
  const places = a.machine && b.machine ? [a.machine, b.machine] : [a.host, b.host];
  return places[0] === places[1] && a.uid === b.uid;
}
