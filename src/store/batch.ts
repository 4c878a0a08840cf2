/** What became of one request of a batch. */
export type BatchAnswer<A> = { readonly answer: A } | { readonly error: unknown };

/** A caller that waits for the answer to its request. */
export interface CommitCaller<A> {
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

export function answerAll<A>(callers: readonly CommitCaller<A>[], answers: readonly BatchAnswer<A>[]): void {
  for (const [i, { resolve, reject }] of callers.entries()) {
    const one = answers[i]!;
    if ('answer' in one) resolve(one.answer);
    else reject(one.error);
  }
}
