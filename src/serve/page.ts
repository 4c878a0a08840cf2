/** What the link of `keyturn serve` opens. The secret is behind the #, which no browser sends, and is gone from the bar at once. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Keyturn</title>
<h1>Keyturn</h1>
<p id="told">Open the link that <code>keyturn serve</code> printed.</p>
<script src="/enter.js"></script>
</html>
`;

export const SCRIPT = `'use strict';
(async () => {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link === null) return;
  history.replaceState(null, '', '/');
  const answer = await fetch('/v1/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link, bound: true }),
  });
  const told = await answer.json();
  // The second secret of the session, for this page alone: each request shows it in the header Keyturn-Page.
  if (answer.ok) sessionStorage.setItem('keyturn-page', told.page);
  document.getElementById('told').textContent = answer.ok
    ? 'This browser may read until ' + told.expires_at + '. /openapi.json says what.'
    : told.detail + ' ' + told.advice;
})();
`;
