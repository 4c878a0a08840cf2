/** The secret of the link is behind the #, which no browser sends, and is gone from the bar at once. */
export async function enter(): Promise<{
  readonly refusal: { readonly words: string; readonly advice: string } | null;
}> {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link !== null) {
    history.replaceState(null, '', '/');
    const answer = await asked('/v1/session', { link });
    if (!answer.ok) {
      const { detail, advice } = (await answer.json()) as { detail: string; advice: string };
      // This browser may have a session from an earlier link.
      if (!(await hasSession())) return { refusal: { words: detail, advice } };
    }
    return { refusal: null };
  }
  if (await hasSession()) return { refusal: null };
  return {
    refusal: {
      words: 'This browser has no session.',
      advice: 'Open the link that `keyturn serve` printed. It works once, for five minutes.',
    },
  };
}

const hasSession = async () => (await asked('/v1/system/get', {})).ok;

const asked = (path: string, body: object) =>
  fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
