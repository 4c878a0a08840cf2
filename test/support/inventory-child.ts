import { closeSync, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { runChild } from '../../src/effect/child.ts';
import { inspectMachine } from '../../src/effect/machine.ts';
import { confineRunner } from '../../src/effect/sql/confine.ts';
import { runVerifier } from '../../src/effect/verifier.ts';
import { registeredPipelines } from '../../src/plan/pipelines.ts';
import { deriveEffect } from '../../src/tool/effect.ts';
import { loadRegistry } from '../../src/tool/registry.ts';
import { prepareRun } from '../../src/tool/run.ts';
import { toolNamed } from '../../src/tool/select.ts';

/** Runs the probe of an inventory as one kind of effect. `given` is what the probe is told. */
const [kind, folder, given] = process.argv.slice(2) as [string, string, string];
const around = { hidden: [], protected: [] };
const registry = () => loadRegistry(join(folder, 'tools.yaml'));

switch (kind) {
  case 'tool': {
    const loaded = registry();
    const effect = deriveEffect({
      registry: loaded,
      tool: toolNamed(loaded, 'probe'),
      arguments: {},
      root: folder,
    });
    const prepared = prepareRun(effect, around);
    const { stderr } = await prepared.run();
    process.stderr.write(stderr.bytes);
    prepared.close();
    break;
  }
  case 'pipeline': {
    const pipelines = registeredPipelines({ root: folder, registry, surroundings: around });
    const action = { target: 'probe', operation: { type: 'pipeline_run', pipeline: 'probe', arguments: {} } };
    const steps = await pipelines.resolve(action as never);
    const options = { signal: new AbortController().signal, timeout_ms: 300_000 };
    console.error(await pipelines.run({ ...action, steps } as never, options as never));
    break;
  }
  case 'sql': {
    const reach = { read: [join(folder, 'read')], write: [join(folder, 'write')], cwd: folder };
    const runner = {
      path: join(folder, 'read/probe.mjs'),
      options: [],
      needs: [realpathSync(process.execPath)],
    };
    const command = confineRunner(inspectMachine(), reach, { memory_mb: 512, file_mb: 1 }, runner);
    const nothing = openSync('/dev/null', 'r');
    const { stderr } = await runChild({
      argv: [...command.argv, given],
      fds: [nothing, ...command.fds], // the descriptor for answers, and no database
      filter: command.filter,
      with_status: true,
      env: {},
      cwd: '/',
      timeout_ms: 300_000,
      stdout_bytes: 0,
      stderr_bytes: 10_000,
    });
    process.stderr.write(stderr.bytes);
    closeSync(nothing);
    command.close();
    break;
  }
  case 'verifier':
    await runVerifier([join(folder, 'read/probe.mjs'), given], 'id', 'hash', 300_000);
    break;
}
