import type { VerbName } from '../face/verbs.ts';

/**
 * Each verb that no service offers, and why not. Every other verb is offered: the routes, the types of `keyturn/client` and docs/http.md
 * follow from this list.
 */
export const HOST_ONLY = {
  'runs.run':
    'takes functions of its process, and the key of the holder of a capability, which goes to no service; `intents.turn` orders a run',
  'runs.look': 'takes the key of a holder, as `runs.run` does',
  'runs.preview': 'takes the key of a holder, as `runs.run` does',
  'mcp.call': 'belongs to a connection that shows the call as it goes on: `POST /mcp` asks for it',
  'mcp.pass': 'belongs to such a connection as well: `POST /mcp` asks for it',
  'mcp.answered':
    'says that the whole answer of a call was handed over, which only the process that handed it over knows',
  'mcp.accept':
    'takes what a look at the server showed, and a look starts that server on the host before a human accepted it',
  'tools.lock':
    'changes the mode of one file of one host. A request would name no bytes of that file, and its signer has seen none: what an agent wrote into it meanwhile would be locked as well. An entry could not keep it true either: the next process of the account unlocks the file, and another host has a file of its own',
  'ledger.rebuild':
    'replaces the stored state, also the keys by which the service knows who asks: rows that were tampered with would say who may replace them, and replaced rows are no evidence any more. `ledger.verifyStore` compares over HTTP',
  'ledger.archive': 'writes a file of the host, at a path that its caller chooses, before it is signed',
  'system.gc': 'removes files and objects of the host one after the other; no draft can take that back',
  'system.rotateControlKey': 'writes the new key to a file of the host before it is signed',
} as const satisfies { readonly [V in VerbName]?: string };

/** What a service offers. */
export type ServedVerb = Exclude<VerbName, keyof typeof HOST_ONLY>;
