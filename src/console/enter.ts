/** The secret of the link is behind the #, which no browser sends, and is gone from the bar at once. */
export async function enter(): Promise<{
  readonly refusal: { readonly words: string; readonly advice: string } | null;
}> {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link !== null) {
    history.replaceState(null, '', '/');
    const answer = await asked('/v1/session', { link, bound: true });
    const told = (await answer.json()) as { page: string; detail: string; advice: string };
    if (answer.ok) localStorage.setItem(PAGE, told.page);
    // This browser may have a session from an earlier link.
    else if (!(await hasSession())) return { refusal: { words: told.detail, advice: told.advice } };
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

const PAGE = 'keyturn-page';

/** The second secret of the session. A browser sends the cookie to every port of this host, and what is kept here to none. */
export const pageSecret = () => localStorage.getItem(PAGE) ?? undefined;

export function pageHeader(): Record<string, string> {
  const secret = pageSecret();
  return secret === undefined ? {} : { [PAGE]: secret };
}

/** Asks for what any session may read. */
const hasSession = async () => (await asked('/v1/system/get', {})).ok;

const asked = (path: string, body: object) =>
  fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...pageHeader() },
    body: JSON.stringify(body),
  });
