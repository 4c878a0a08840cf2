import { render } from 'preact';
import { AppContext, startApp } from './app.ts';
import { enter } from './enter.ts';
import { Shell } from './screen/shell.tsx';
import { Shut } from './screen/shut.tsx';

/** Opens the link, where there is one, and then the console. Without a session it says how to get one. */
async function main(root: HTMLElement): Promise<void> {
  const theme = localStorage.getItem('keyturn.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const entered = await enter();
  root.replaceChildren();
  if (entered.refusal !== null) return render(<Shut refusal={entered.refusal} />, root);
  const app = startApp();
  render(
    <AppContext.Provider value={app}>
      <Shell />
    </AppContext.Provider>,
    root,
  );
}

void main(document.getElementById('app')!);
