import type { Request, Result } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { stdoutColumns } from '../fold.ts';
import { filledPage, pageLines } from '../list-page.ts';
import { intentLines, listLines, type TableLook } from '../list-table.ts';
import { meantBy } from '../operand.ts';
import { stdoutPainter } from '../paint.ts';
import { reading } from '../project.ts';
import { capabilityWordNamed, runWordNamed, statusWordNamed } from '../status-word.ts';
import { timeOf } from '../time.ts';
import { executorMeant } from './executor.ts';

export function list(call: Call): Promise<Answer> {
  const { status, by, needs } = call.options;
  const request: Request<'intents.list'> = {
    ...pageAsked(call),
    ...(status !== undefined && { status_word: statusWordNamed(status) }),
    ...(by !== undefined && { proposer: by }),
    ...(needs !== undefined && { needs }),
  };
  return reading(call, async (keyturn) => {
    const result = await filledPage('intents', request, (one) => keyturn.intents.list(one));
    return {
      result,
      lines: listed(call, 'intents', result, intentLines(result.intents, stdoutTable(new Date()))),
    };
  });
}

export function runs(call: Call): Promise<Answer> {
  const { status, by, executor, intent } = call.options;
  const request: Request<'runs.list'> = {
    ...pageAsked(call),
    ...(status !== undefined && { status_word: runWordNamed(status) }),
    ...(by !== undefined && { proposer: by }),
  };
  return reading(call, async (keyturn) => {
    const intent_id = intent === undefined ? undefined : await meantBy(keyturn, 'intent', intent);
    const on = executor === undefined ? {} : { executor: await executorMeant(keyturn, executor) };
    const asked = { ...request, ...on, ...(intent_id !== undefined && { intent_id }) };
    const result = await filledPage('runs', asked, (one) => keyturn.runs.list(one));
    return { result, lines: listed(call, 'runs', result, runLines(result.runs)) };
  });
}

function runLines(found: Result<'runs.list'>['runs']): string[] {
  const lines = found.map(
    ({ execution_id, intent_id, claimed_at: at, executor, executor_name, ...rest }) => ({
      ...rest,
      ids: [execution_id, intent_id],
      at,
      name: executor_name ?? executor.host,
    }),
  );
  return listLines({ ids: ['RUN', 'INTENT'], name: 'on' }, lines, stdoutTable(new Date()));
}

export function capabilities(call: Call): Promise<Answer> {
  const { status, by, orderedBy, intent } = call.options;
  const request: Request<'runs.capabilities'> = {
    ...pageAsked(call),
    ...(status !== undefined && { status_word: capabilityWordNamed(status) }),
    ...(by !== undefined && { proposer: by }),
    ...(orderedBy !== undefined && { by: orderedBy }),
  };
  return reading(call, async (keyturn) => {
    const intent_id = intent === undefined ? undefined : await meantBy(keyturn, 'intent', intent);
    const asked = { ...request, ...(intent_id !== undefined && { intent_id }) };
    const result = await filledPage('capabilities', asked, (one) => keyturn.runs.capabilities(one));
    return { result, lines: listed(call, 'capabilities', result, capabilityLines(result.capabilities)) };
  });
}

function capabilityLines(found: Result<'runs.capabilities'>['capabilities']): string[] {
  const lines = found.map(({ capability_id, intent_id, ordered_at: at, by: name, ...rest }) => ({
    ...rest,
    ids: [capability_id, intent_id],
    at,
    name,
  }));
  return listLines({ ids: ['ID', 'INTENT'], name: 'by' }, lines, stdoutTable(new Date()));
}

/** What every list takes. */
function pageAsked({ options: { tool, text, since, until, cursor, limit } }: Call) {
  return {
    ...(tool !== undefined && { tool }),
    ...(text !== undefined && { text }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...(until !== undefined && { until: timeOf(until, '--until') }),
    ...(cursor !== undefined && { cursor }),
    ...(limit !== undefined && { limit: countOf(limit, 0, '--limit', limits.page_rows) }),
  };
}

export function countOf(
  text: string | undefined,
  otherwise: number,
  flag = '--limit',
  most: number = limits.printed_rows,
): number {
  if (text === undefined) return otherwise;
  const count = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > most) refuse('USAGE', `${flag} takes a number from 1 to ${most}.`);
  return count;
}

function listed(
  { options: { cursor } }: Call,
  what: string,
  page: Parameters<typeof pageLines>[0],
  [head = '', ...rows]: string[],
): string[] {
  return pageLines(page, rows.length === 0 ? [] : [head, ...rows], { what, cursor });
}

/** A list on standard output. */
export function stdoutTable(now: Date): TableLook {
  return { now, paint: stdoutPainter(), columns: stdoutColumns() };
}
