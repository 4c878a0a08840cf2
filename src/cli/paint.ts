import { styleText } from 'node:util';

export type Paint = (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'alarm', text: string) => string;

/** Colour is for a person who did not ask for none (https://no-color.org). */
export function painter(is_terminal: boolean): Paint {
  const plain = !is_terminal || (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb';
  if (plain) return (_style, text) => text;
  return (style, text) => (style === 'alarm' ? styleText(['bold', 'red'], text) : styleText(style, text));
}

/** For what goes to standard output. */
export function stdoutPainter(): Paint {
  return painter(process.stdout.isTTY === true);
}
