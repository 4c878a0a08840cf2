export interface Shutting {
  readonly words: string;
  readonly advice: string;
}

const NO_SESSION: Shutting = {
  words: 'This browser has no session.',
  advice: 'Open the link that `keyturn serve` printed. It works once, for five minutes.',
};

/**
 * Opens the link, where there is one. Its secret is behind the #, which no browser sends, and is gone from the bar at once. What is
 * returned is said where the service knows no session: this browser may have one from an earlier link.
 */
export async function enter(): Promise<Shutting> {
  const asked = new URLSearchParams(location.hash.slice(1));
  const link = asked.get('link');
  if (link === null) return NO_SESSION;
  history.replaceState(null, '', asked.get('to') === 'people' ? '/#/people' : '/');
  const answer = await fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link }),
  });
  const told = (await answer.json()) as { page: string; detail: string; advice: string };
  if (answer.ok) localStorage.setItem(PAGE, told.page);
  return answer.ok ? NO_SESSION : { words: told.detail, advice: told.advice };
}

const PAGE = 'keyturn-page';

/** The second secret of the session. A browser sends the cookie to every port of this host, and what is kept here to none. */
export const pageSecret = () => localStorage.getItem(PAGE) ?? undefined;

export function pageHeader(): Record<string, string> {
  const secret = pageSecret();
  return secret === undefined ? {} : { [PAGE]: secret };
}
