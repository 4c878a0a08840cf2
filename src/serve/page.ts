/** What `/` answers where this installation has no console. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Keyturn</title>
<h1>Keyturn</h1>
<p>The service runs. There is no console here: <code>npm run build</code> makes it. <code>keyturn turn</code> decides at the terminal.</p>
</html>
`;
