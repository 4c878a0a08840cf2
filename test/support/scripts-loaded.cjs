/** With `node --require`: at the end, the files that V8 was given as code go to standard error, one JSON array. */
const { Session } = require('node:inspector');
const { writeSync } = require('node:fs');
const { fileURLToPath } = require('node:url');

const urls = [];
const session = new Session();
session.connect();
session.on('Debugger.scriptParsed', ({ params: { url } }) => urls.push(url));
session.post('Debugger.enable');
urls.length = 0; // what was there before
process.on('exit', () => {
  session.disconnect();
  const paths = urls.map((url) => (url.startsWith('file:') ? fileURLToPath(url) : url));
  writeSync(2, JSON.stringify(paths.filter((path) => path.startsWith('/') && path !== __filename)));
});
