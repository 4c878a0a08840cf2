/** Waits for all of what was sent together, and fails with the first that failed: the rest follows from it. */
export async function together<A extends readonly unknown[]>(
  asks: readonly [...{ [I in keyof A]: Promise<A[I]> }],
): Promise<A> {
  const outcomes: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(asks);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }) as unknown as A;
}
