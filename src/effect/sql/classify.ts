import { sqlLimits } from '../../limits.ts';
import { inspectMachine, type Machine } from '../machine.ts';
import { confineRunner } from './confine.ts';
import { askRunner } from './process.ts';
import { type RunnableKind, type Statement, statementsOf } from './statement.ts';

export interface ClassifyOptions {
  readonly kinds?: readonly RunnableKind[];
  readonly sandbox?: 'required' | 'none';
  readonly machine?: Machine;
  readonly abort?: AbortSignal;
}

/**
 * The statements of a text by kind, for a preview. What may run is confirmed by DuckDB's own parser; a text with a
 * statement that may not run is only listed, and no parser sees it: parsing alone can read files.
 */
export async function classifySql(text: string, options: ClassifyOptions = {}): Promise<Statement[]> {
  const statements = statementsOf(text, options.kinds);
  if (statements.some((statement) => statement.forbidden)) return statements;
  const machine = options.sandbox === 'none' ? null : (options.machine ?? inspectMachine());
  const command = confineRunner(machine, { read: [], write: [], cwd: '/' }, { memory_mb: 128, file_mb: 1 });
  await askRunner(
    { command, cwd: '/', timeout_ms: sqlLimits.timeout_ms_default, abort: options.abort },
    {
      task: 'classify',
      text,
      statements: statements.map(({ number, kind, text }) => ({ number, kind, text })),
    },
  );
  return statements;
}
