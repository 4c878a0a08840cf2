import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDigests, describePrograms } from '../../src/effect/program.ts';
import { runVerifier } from '../../src/effect/verifier.ts';
import { checkEligibility } from '../../src/lane/check.ts';
import { queueFolder } from '../../src/lane/folder.ts';
import { runIntent } from '../../src/lane/run.ts';
import type { Refusal } from '../../src/refusal.ts';
import { approval, execution, folder, HASH, ID, linesOf, OTHER_ID, TIME } from '../lane/lane.ts';
import { type Play, stage } from '../lane/stage.ts';
import { scratch } from '../support/scratch.ts';

function executable(content: string | Uint8Array): string {
  const path = join(scratch(), 'tool');
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

/** The code of the refusal, or `null` when nothing was refused. */
async function refusalOf(act: () => unknown): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    return (error as Refusal).code;
  }
}

const describeAll = (path: string) => describePrograms(path, '/usr/bin:/bin', createDigests());

describe('S20: executables are what the kernel would execute', () => {
  it('shell text behind the four magic bytes of a binary is refused', async () => {
    const path = executable('\x7fELF\n/bin/echo this ran\n');
    expect(await refusalOf(() => describeAll(path))).toBe('EXECUTABLE_NOT_EXECUTABLE');
  });

  it('a script whose interpreter is such a file is refused', async () => {
    const path = executable(`#!${executable('\x7fELF\nexit 0\n')}\n`);
    expect(await refusalOf(() => describeAll(path))).toBe('EXECUTABLE_NOT_EXECUTABLE');
  });

  it('the loader that a binary names is hashed like an interpreter', () => {
    const binary = readFileSync('/bin/sh');
    const loader = executable(readFileSync('/bin/true'));
    const renamed = withLoader(binary, loader);
    expect(describeAll(executable(renamed)).map(({ called }) => called)).toContain(loader);
  });

  it('a verifier of that kind cannot be invoked, and is not handed to a shell', async () => {
    const ran = join(scratch(), 'ran');
    const path = executable(`\x7fELF\ntouch ${ran}\nexit 0\n`);
    expect(await refusalOf(() => runVerifier(path, ID, HASH))).toBe('VERIFIER_NOT_CALLABLE');
    expect(existsSync(ran)).toBe(false);
    const queue = queueFolder(folder({ approved: [approval()] }));
    const verdict = await checkEligibility(queue, { id: ID, hash: HASH }, ({ id, hash }) =>
      runVerifier(path, id, hash),
    );
    expect(verdict.line).toBe('[ERROR] Cannot invoke execution verifier');
  });
});

/** The same binary, with another loader: in place when the name is short enough, else at the end of the file. */
function withLoader(binary: Buffer, loader: string): Buffer {
  const name = Buffer.from(`${loader}\0`);
  const copy = Buffer.concat([binary, name]);
  const [table, count] = [Number(copy.readBigUInt64LE(32)), copy.readUInt16LE(56)];
  for (let at = table; at < table + count * 56; at += 56) {
    if (copy.readUInt32LE(at) !== 3) continue;
    copy.writeBigUInt64LE(BigInt(binary.length), at + 8);
    copy.writeBigUInt64LE(BigInt(name.length), at + 32);
    copy.writeBigUInt64LE(BigInt(name.length), at + 40);
  }
  return copy;
}

function run(play: Play) {
  // The queue belongs to the user of Keyturn.
  const { queue, registry } = stage({ tool: { run_as: userInfo().username }, ...play });
  const request = {
    id: ID,
    hash: HASH,
    queue: queueFolder(queue),
    registry_path: registry,
    working_folder: scratch(),
  };
  const setting = {
    confirm: async () => true,
    clock: () => new Date(),
    abort: new AbortController().signal,
  };
  return { queue, request, end: () => runIntent(request, setting) };
}

describe('S20: the lane looks for its own claim before it says recorded', () => {
  it.each([
    ['empties', ': > "$QUEUE/executed.jsonl"'],
    ['removes', 'rm "$QUEUE/executed.jsonl"'],
    [
      'rewrites',
      `printf '{"id":"${OTHER_ID}","timestamp":"${TIME}","hash":"${HASH}"}\\n' > "$QUEUE/executed.jsonl"`,
    ],
    ['forges', 'sed -i s/started/success/ "$QUEUE/executed.jsonl"'],
  ])('a tool that %s executed.jsonl is not reported as recorded', async (_, body) => {
    const { end } = run({ body });
    expect(await refusalOf(end)).toBe('RECORDING_FAILED');
  });

  it('what it did stays blocked, although its claim is gone', async () => {
    const { end, queue, request } = run({ body: ': > "$QUEUE/executed.jsonl"' });
    expect(await refusalOf(end)).toBe('RECORDING_FAILED');
    expect((await checkEligibility(queueFolder(queue), request)).ok).toBe(false);
    expect(linesOf(queue, 'executed').map(({ id }) => id)).toContain(ID);
  });

  it('a tool that takes the record of another run away is not reported as recorded', async () => {
    const { end, queue } = run({ body: 'sed -i 1d "$QUEUE/executed.jsonl"' });
    folder({ executed: [execution(OTHER_ID)] }, queue);
    expect(await refusalOf(end)).toBe('RECORDING_FAILED');
  });

  it('what another process appends meanwhile does no harm', async () => {
    const line = JSON.stringify(execution(OTHER_ID));
    const { end, queue } = run({ body: `echo '${line}' >> "$QUEUE/executed.jsonl"` });
    expect((await end()).outcome).toBe('success');
    expect(linesOf(queue, 'executed').map(({ outcome }) => outcome)).toEqual([
      'started',
      'success',
      'success',
    ]);
  });
});

describe("S20: ARGO's own lines are accepted", () => {
  const check = (queue: string, id = ID) => checkEligibility(queueFolder(queue), { id, hash: HASH });

  it('a record with an id and a time alone blocks its id and no other', async () => {
    const line = { id: OTHER_ID, timestamp: TIME };
    const queue = folder({ approved: [approval(), approval(OTHER_ID)], executed: [line] });
    expect((await check(queue)).line).toBe('[OK] Intent eligible for execution');
    expect((await check(queue, OTHER_ID)).line).toBe(`[ERROR] Intent already executed at ${TIME}`);
  });

  it('blank lines say nothing in any of the files', async () => {
    const queue = folder({
      approved: ['', approval(), '  ', '\t'],
      executed: ['', execution(OTHER_ID), '\r', ''],
    });
    expect((await check(queue)).line).toBe('[OK] Intent eligible for execution');
    appendFileSync(join(queue, 'executed.jsonl'), `\n${JSON.stringify(execution())}\n`);
    expect((await check(queue)).line).toBe(`[ERROR] Intent already executed at ${TIME}`);
  });

  it('a malformed line still denies, also beside blank ones', async () => {
    for (const line of ['{', '\u00a0', '\v', '\ufeff', '{"id":"x","timestamp":"x"}', `{"id":"${ID}"}`]) {
      const queue = folder({ approved: [approval()], executed: ['', line] });
      expect((await check(queue)).line).toBe('[ERROR] Execution record cannot be trusted');
    }
  });
});
