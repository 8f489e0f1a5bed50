// The measured service as a separate process: started with the folders of the code and of the project, stopped by disconnecting.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [code, project, given] = process.argv.slice(2)
const { createService, loadConfig } = await import(pathToFileURL(join(code, 'src', 'service', 'index.js')).href)
const environment = { HOST: '127.0.0.1', PORT: '0', OCTAVO_DATABASE_READER_THREADS: '1', LOG_LEVEL: 'error', ...JSON.parse(given) }
const service = await createService(await loadConfig(project, environment, () => 'a secret'))
process.send({ origin: await service.listen() })
process.once('disconnect', () => service.close())
