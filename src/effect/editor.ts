import { spawn } from 'node:child_process';

/**
 * The editor that a person chose, at their terminal, until they leave it. Its words are split at spaces, and no shell reads them.
 * Resolves with whether it was left without an error.
 */
export function runEditor(editor: string, path: string, terminal: number): Promise<boolean> {
  const [program = '', ...words] = editor.trim().split(/\s+/);
  return new Promise((resolve) => {
    const child = spawn(program, [...words, path], { stdio: [terminal, terminal, terminal] });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
