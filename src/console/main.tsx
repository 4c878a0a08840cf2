import { render } from 'preact';
import { AppContext, startApp, useApp } from './app.ts';
import { useCell } from './cell.ts';
import { enter, type Shutting } from './enter.ts';
import { Shell } from './screen/shell.tsx';
import { Shut } from './screen/shut.tsx';

/** Opens the link, where there is one, and then the console. */
async function main(root: HTMLElement): Promise<void> {
  const theme = localStorage.getItem('keyturn.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const shutting = await enter();
  const app = startApp();
  root.replaceChildren();
  render(
    <AppContext.Provider value={app}>
      <Console shutting={shutting} />
    </AppContext.Provider>,
    root,
  );
}

/** Whether there is a session, the first answer says: nobody is asked for it alone. Without one it says how to get one. */
function Console({ shutting }: { readonly shutting: Shutting }) {
  const app = useApp();
  const { state } = useCell(app.live);
  const queue = useCell(app.queue);
  return state === 'over' && queue === null ? <Shut refusal={shutting} /> : <Shell />;
}

void main(document.getElementById('app')!);
