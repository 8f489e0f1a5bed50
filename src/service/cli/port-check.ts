// Checks ports before a start touches the project.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../../foundation/config/config.js'
import { type ManagementConfig, managementVariables } from '../../foundation/config/network.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { describePortProblem } from '../../foundation/errors/explain-failure.js'

/**
 * Listens briefly on the port of the service, and on the management port if it is required and belongs to this process. A port taken
 * afterwards is reported when they listen. @throws ConfigError for the management port, otherwise the error of listening
 */
export async function checkPorts(config: Pick<Config, 'host' | 'port' | 'management'>): Promise<void> {
  await checkPort(config)
  const { management } = config
  if (management?.isRequired === true && management.askedBy === 'port') await checkManagementPort(management)
}

/** `exclusive`: prevents a cluster process from using the shared socket. */
async function checkPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen({ host, port, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

async function checkManagementPort(management: ManagementConfig): Promise<void> {
  await checkPort(management).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(describePortProblem(error, managementVariables))
  })
}
