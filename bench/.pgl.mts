import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Client } from 'pg';
import { startServer } from '../test/support/postgres-server.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { begun, enrolled } from '../test/store/facts.ts';
import { proposal } from './facts.ts';
const folder = mkdtempSync('/work/main/node_modules/.pg-'); chmodSync(folder, 0o711);
const server = await startServer({ max_wal_size: '4GB' }, folder);
const q=(a,p)=>a.slice().sort((x,y)=>x-y)[Math.floor(a.length*p)].toFixed(0);
try {
  const url = server.url();
  const log=[] as any[]; let on=false;
  const orig = (Client.prototype as any).query;
  (Client.prototype as any).query = function(c, ...r){ if(!on) return orig.call(this,c,...r); const t=performance.now(); const out=orig.call(this,c,...r); if (out?.then) out.then(()=>log.push([typeof c==='string'?c:(c.name??c.text), (performance.now()-t)*1000, t])); return out; };
  const store = await openPostgresStore({ url, tenant:'default', clock:()=>new Date(), mode:'create' });
  await store.commit({ events:[begun(), enrolled('ada')] });
  for (let i=0;i<400;i++) await store.commit(proposal());
  const client = new Client({ connectionString: url, pipeline: true } as any); await client.connect();
  await client.query('CREATE TABLE bare (id bigint PRIMARY KEY, hash text NOT NULL, bytes bytea NOT NULL)');
  const bytes=Buffer.alloc(738,1); let id=0;
  const bare=async()=>client.query({name:'bare',text:'INSERT INTO bare (id, hash, bytes) VALUES ($1,$2,$3)',values:[id++,'ab'.repeat(32),bytes]});
  for(let i=0;i<200;i++) await bare();
  const tb=[],tc=[]; let cpu=0;
  for (let i=0;i<800;i++){ let t=performance.now(); await bare(); tb.push((performance.now()-t)*1000); on=true; t=performance.now(); const c=process.cpuUsage(); await store.commit(proposal()); const d=process.cpuUsage(c); cpu+=d.user+d.system; tc.push((performance.now()-t)*1000); on=false; }
  console.log('bare p25',q(tb,.25),'p50',q(tb,.5),'commit p25',q(tc,.25),'p50',q(tc,.5),'client cpu',(cpu/800).toFixed(0));
  const by={}; for(const [n,us] of log){ (by[String(n).slice(0,60)]??=[]).push(us);} for(const k in by) console.log(k, by[k].length, 'p25', q(by[k],.25));
  await client.query('SET synchronous_commit=off'); const tb2=[]; for(let i=0;i<500;i++){const t=performance.now(); await bare(); tb2.push((performance.now()-t)*1000);} console.log('bare without sync p25', q(tb2,.25));
  await client.end(); await store.close();
} finally { await server.remove(); rmSync(folder,{recursive:true,force:true}); }
