// Applies the rich change in a separate process, to be killed midway: `jiti model-work-child.ts postgres <url> <project>`.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadModel } from '../../src/model/schema/load.js'
import { workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { richChange } from './rich-change.js'
import type { ServerClient } from './server.js'

const [client, url, project] = process.argv.slice(2) as [ServerClient, string, string]
const folder = mkdtempSync(join(tmpdir(), 'octavo-model-child-'))
const { to, plan } = await richChange(project, folder, await loadModel({ folder: project }), 'rich')
const worker = await openWorker(client, url)
await worker.carryOut(workOf(plan.steps, to, client === 'mysql' ? { progress: worker.progress } : {}))
await worker.close()
