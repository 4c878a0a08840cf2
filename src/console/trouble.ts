/** What a refusal, or whatever else went wrong, is for a person. */
export interface Trouble {
  readonly words: string;
  readonly advice: string;
  readonly code: string | null;
}

/** A request that failed is a TypeError, too: only its message tells. As Chromium, Firefox and Safari say it. */
const LOST = /fetch|network|load(ing|ed)? |input stream|importing/i;

export function troubleOf(error: unknown): Trouble {
  const { name, message, code, advice } = error as Partial<
    Record<'name' | 'message' | 'code' | 'advice', string>
  >;
  if (name === 'ServiceRefusal')
    return { words: message ?? '', advice: (advice ?? '').replaceAll('`', ''), code: code ?? null };
  if (name === 'NotAllowedError' || name === 'AbortError')
    return { words: 'The gesture was not finished.', advice: 'Nothing was signed.', code: null };
  // What this page refuses by itself. The advice of all reasons is not loaded with it.
  if (name === 'Refusal')
    return {
      words: message ?? '',
      advice: `Nothing was signed.${code === 'ACT_OTHER' ? ' Do not use this console until you know why.' : ''}`,
      code: code ?? null,
    };
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    return {
      words: LOST.test(error.message)
        ? 'The service does not answer.'
        : `This page has a fault: ${error.message}`,
      advice: 'What was sent may have arrived: look at the story before you try again.',
      code: null,
    };
  return {
    words: message ?? 'Something went wrong in this page.',
    advice: 'Nothing more was sent.',
    code: null,
  };
}
