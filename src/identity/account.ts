/** An account of an operating system, as its own host names it. It is no proof: it tells two people on one machine apart. */
export interface Account {
  readonly host: string;
  /** Names the machine, hashed; null where it has no id. */
  readonly machine: string | null;
  readonly uid: number;
  /** The name of the account; its uid where it has none. */
  readonly user: string;
}

/** Whom a service identified: a human by what they sign, an agent by its token or its key. Of a human the account is not known. */
export function accountAtService(by: 'human' | 'token' | 'key', name: string): Account {
  return { host: `${by}:${name}`, machine: null, uid: -1, user: name };
}

/** Whether a service identified this human: their key signed the request. It is the service's word, and what it wrote down. */
export function isIdentifiedAs(account: Account | null, human: string): boolean {
  return account?.uid === -1 && account.host === `human:${human}`;
}

/** Whether two acts may come from one account. What is not known cannot be told apart. */
export function mayBeSameAccount(a: Account | null, b: Account | null): boolean {
  if (a === null || b === null) return true;
  const [by, others] = [identifiedBy(a), identifiedBy(b)];
  // A human at a service may have any account of a host. That the holder of a token or of an agent's key is another one is said, not proven.
  if ([by, others].includes('human') && [by, others].includes('host')) return true;
  const places = a.machine && b.machine ? [a.machine, b.machine] : [a.host, b.host];
  return places[0] === places[1] && a.uid === b.uid;
}

/** How a service identified the caller, and `host` for an account of an operating system. */
export function identifiedBy({ host, uid }: Pick<Account, 'host' | 'uid'>): string {
  const [, by = 'host'] = (uid === -1 && /^(human|token|key):/.exec(host)) || [];
  return by;
}
