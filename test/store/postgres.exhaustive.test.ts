import { storeContract } from './contract.ts';
import { agentContract } from './contract-agent.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

storeContract('postgres', () => at().place());
agentContract('postgres', () => at().place());
