// The measured service as a process of its own: started with the folders of the code and of the project, stopped by disconnecting.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [code, project] = process.argv.slice(2)
const { createService, loadConfig } = await import(pathToFileURL(join(code, 'index.js')).href)
const environment = { HOST: '127.0.0.1', PORT: '0', NODE_ENV: 'production', OCTAVO_DATABASE_READER_THREADS: '1', UPLOADS_DIR: 'uploads' }
const service = await createService(await loadConfig(project, { ...environment, LOG_LEVEL: 'error' }, () => 'a secret'))
process.send({ origin: await service.listen() })
process.once('disconnect', () => service.close())
