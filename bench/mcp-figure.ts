import { join } from 'node:path';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import { CLI, ROOT, type Workshop } from './workshop.ts';

/** Proposal with submission and order; issue with claim; the end. */
const COMMITS = 3;
const BEYOND_MOST_MS = 8;
const TOGETHER_LEAST = 1.8;
const LIST_MOST = 1.5;

export const MCP = { name: 'mcp', rows: mcpRows };

const verdict = (ok: boolean): Row['verdict'] => (ok ? 'ok' : 'MISSED');

async function mcpRows({ folder, ask }: Workshop, { runs }: Sizes): Promise<Row[]> {
  const filesystem = join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const many = join(ROOT, 'bench/mcp-server.mjs');
  const found = await ask('measureMcp', {
    root: join(folder, 'mcp'),
    cli: CLI,
    filesystem,
    many,
    calls: runs,
  });
  const beyond = found.gated_ms - found.direct_ms - COMMITS * found.commit_ms;
  const together = found.together_per_s / found.alone_per_s;
  const list = found.list_gated_ms / found.list_direct_ms;
  return [
    {
      figure: `MCP call under a grant, beyond the same call without the gate and ${COMMITS} commits`,
      measured: `${beyond.toFixed(1)} ms`,
      asked: `<= ${BEYOND_MOST_MS} ms`,
      verdict: verdict(beyond <= BEYOND_MOST_MS),
      baseline: `gate ${found.gated_ms.toFixed(1)}, direct ${found.direct_ms.toFixed(1)}, commit ${found.commit_ms.toFixed(1)} ms`,
    },
    {
      figure: 'MCP calls under a grant per second, 32 at once against one at a time',
      measured: `${together.toFixed(2)} x`,
      asked: `>= ${TOGETHER_LEAST}`,
      verdict: verdict(together >= TOGETHER_LEAST),
      baseline: `${found.together_per_s.toFixed(0)} and ${found.alone_per_s.toFixed(0)} a second`,
    },
    {
      figure: 'tools/list through the gate, 10 servers with 50 tools each, against one of them',
      measured: `${list.toFixed(2)} x`,
      asked: `<= ${LIST_MOST}`,
      verdict: verdict(list <= LIST_MOST),
      baseline: `gate ${found.list_gated_ms.toFixed(1)}, one server ${found.list_direct_ms.toFixed(1)} ms, one that answers with a fixed text ${found.list_fixed_ms.toFixed(1)} ms`,
    },
  ];
}
