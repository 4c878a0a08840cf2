import { render } from 'preact';
import { AppContext, startApp, useApp } from './app.ts';
import { useCell } from './cell.ts';
import { enter, type Shutting } from './enter.ts';
import { askFirst } from './prefetch.ts';
import { Shell } from './screen/shell.tsx';
import { Shut } from './screen/shut.tsx';

const FIRST_MS = 300;

/** Opens the link, where there is one, and then the console. */
async function main(root: HTMLElement): Promise<void> {
  const theme = localStorage.getItem('keyturn.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const shutting = await enter();
  const app = startApp();
  // One drawing with everything instead of three, each with its layout; what takes longer is drawn as it comes.
  const late = new Promise((done) => setTimeout(done, FIRST_MS));
  await Promise.race([askFirst(app).catch(() => {}), late]);
  root.replaceChildren();
  render(
    <AppContext.Provider value={app}>
      <Console shutting={shutting} />
    </AppContext.Provider>,
    root,
  );
  app.onDrawn();
}

/** The first answer tells whether there is a session, so there is no request for that alone. Without a session the page says how to get one. */
function Console({ shutting }: { readonly shutting: Shutting }) {
  const app = useApp();
  const { state } = useCell(app.live);
  const queue = useCell(app.queue);
  return state === 'over' && queue === null ? <Shut refusal={shutting} /> : <Shell />;
}

void main(document.getElementById('app')!);
