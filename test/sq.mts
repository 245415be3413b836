import { mkdtempSync, mkdirSync } from 'node:fs';
import { folderArchive, localSigner, makeKey } from '../lib/seal/folder.ts';
import { seal } from '../lib/seal/sealer.ts';
import { verifyTrail } from '../lib/seal/verify.ts';
import { makeEntry } from '../lib/audit/entry.ts';
import { toItem } from '../lib/audit/store.ts';
const start = Date.UTC(2026,0,1);
const itemOf = (i) => toItem(makeEntry({ action:'LOGIN', resource:'users', result: i%5?'SUCCESS':'FAILURE', user_id:i%1000, resource_id:i%1000, ip_address:`192.0.2.${i%256}`, user_agent:'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)'},{now:new Date(start+i*1000), random:(b)=>(i*7919)%b}),{writeId:`00000000-0000-4000-8000-${String(i).padStart(12,'0')}`, requestId:`request-${i}`});
for (const size of [100000, 1000000]) {
  const perm = (i) => (i * 7919) % size; 
  const source = { async *between(a,b){ for (let i=0;i<size;i++) { const it=itemOf(i); if (it.created_at_id>=a && it.created_at_id<b) yield it; } }, async *all(){ for (let i=0;i<size;i++) yield itemOf(perm(i)); }, byIds: async()=>[] };
  const f = mkdtempSync('/tmp/sq-'); const archive = folderArchive(f); const signer = localSigner(makeKey());
  const now = start + size*1000 + 120000;
  let c = process.cpuUsage();
  await seal({archive, source, signer, interval:60}, new Date(now));
  let d = process.cpuUsage(c); const s=(d.user+d.system)/size;
  c = process.cpuUsage();
  const v = await verifyTrail({archive, publicKey: signer.publicKey, source, now}, (x)=>console.log(x.kind, x.subject));
  d = process.cpuUsage(c);
  console.log(size, 'seal', s.toFixed(1), 'verify', ((d.user+d.system)/size).toFixed(1), v.entries, v.waiting, Math.round(process.memoryUsage().rss/1e6));
}
