// docs/spec/running.md: the files of deploy/ are valid, and name what exists.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { expect } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { testWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { composition, deployed, root, textOf, variablesIn } from './composed.js'

const { services, volumes } = composition()
const octavos = Object.entries(services).filter(([name]) => name.startsWith('octavo'))

const files = (readdirSync(deployed(), { recursive: true, withFileTypes: true }) as readonly import('node:fs').Dirent[])
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))

/** The names of variables that Octavo reads, from its source. */
const known = new Set(
  readdirSync(join(root, 'src', 'foundation', 'config')).flatMap((file) =>
    [
      ...readFileSync(join(root, 'src', 'foundation', 'config', file), 'utf8').matchAll(
        /\b(?:OCTAVO|DATABASE|AWS|CDN|SMTP|API|ADMIN|JWT)_[A-Z0-9_]+\b/g,
      ),
    ].map(([name]) => name),
  ),
)
// The last is read by the system's allocator.
const plain = new Set(['PORT', 'HOST', 'NODE_ENV', 'LOG_LEVEL', 'PUBLIC_URL', 'UPLOADS_DIR', 'MALLOC_ARENA_MAX'])
const isKnown = (name: string): boolean => known.has(name) || plain.has(name)

rule('running.1', 'every variable that is set for Octavo is one that Octavo or its allocator reads', () => {
  const set = [
    ...octavos.flatMap(([, { environment = {} }]) => Object.keys(environment)),
    ...files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\b(?:OCTAVO|DATABASE)_[A-Z0-9_]+\b/g)].map(([name]) => name)),
    ...units.flatMap((unit) => [...textOf('systemd', unit).matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name!)),
    ...Object.keys(objectOf('ConfigMap').data!),
    ...[...textOf('kubernetes', 'octavo.yaml').matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name!),
  ]
  expect(set.length).toBeGreaterThan(40)
  expect([...new Set(set)].filter((name) => !isKnown(name))).toEqual([])
})

rule('running.1', 'the compose file names files, services, volumes and variables that exist', () => {
  const wanted = new Set([...textOf('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
  expect([...wanted].sort()).toEqual(Object.keys(variablesIn(textOf('compose.env.example'))).sort())
  for (const [name, service] of Object.entries(services)) {
    for (const other of Object.keys(service.depends_on ?? {})) expect(Object.keys(services), name).toContain(other)
    for (const volume of service.volumes ?? []) {
      const [from] = volume.split(':')
      if (from!.startsWith('.')) expect(existsSync(deployed(from!)), volume).toBe(true)
      else expect(Object.keys(volumes), volume).toContain(from)
    }
    if (service.build !== undefined) expect(existsSync(deployed(service.build.context, service.build.dockerfile))).toBe(true)
  }
  const hosts = new Set(Object.entries(services).flatMap(([name, { networks }]) => [name, ...(networks?.default.aliases ?? [])]))
  for (const [name, { environment = {} }] of octavos)
    for (const key of ['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'AWS_ENDPOINT'])
      expect(hosts, `${name} ${key}`).toContain(new URL(environment[key]!).hostname)
  expect(services.store!.environment!.GARAGE_DEFAULT_BUCKET).toBe(octavos[0]![1].environment!.AWS_BUCKET)
})

rule('running.1', 'the balancer is valid, and checks every Octavo at its ports', () => {
  const config = textOf('haproxy.cfg')
  const servers = [...config.matchAll(/^ +server (\S+) (\S+):(\d+)$/gm)].map(([, name, host, port]) => [name, host, port])
  expect(servers).toEqual(octavos.map(([name]) => [name, name, '1337']))
  expect(config).toMatch(/^ +option forwardfor$/m)
  expect(config).toMatch(/^ +http-request set-header X-Forwarded-Proto /m)
  const [, port] = /check port (\d+)/.exec(config)!
  for (const [, { environment = {} }] of octavos) expect(environment.OCTAVO_MANAGEMENT_PORT).toBe(port)
  expect(services.balancer!.ports).toEqual([`${/bind :(\d+)/.exec(config)![1]}:8080`])
})

testWith(['HAProxy'], 'running.1: HAProxy takes its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-haproxy-'))
  // The names of the services exist in containers only.
  writeFileSync(join(folder, 'haproxy.cfg'), textOf('haproxy.cfg').replaceAll(/ octavo-\d:/g, ' 127.0.0.1:'))
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect([status, stderr.split('\n').filter((line) => /ALERT|WARNING/.test(line))]).toEqual([0, []])
})

const dockerfile = DockerfileParser.parse(textOf('Dockerfile'))
const instructions = dockerfile.getInstructions().map((each) => `${each.getKeyword()} ${each.getArgumentsContent() ?? ''}`)

rule('running.2', 'the Dockerfile is valid, and installs what the lock file says', () => {
  expect(validate(textOf('Dockerfile')).map(({ message }) => message)).toEqual([])
  expect(instructions.filter((each) => /^RUN npm/.test(each))).toEqual(['RUN npm ci --omit=dev --no-audit --no-fund'])
  expect(instructions).toContainEqual(expect.stringMatching(/^RUN test -e node_modules\/octavo\/dist\/main\.js \|\|/))
  expect(instructions.filter((each) => /^(?:RUN|HEALTHCHECK)/.test(each) && /\b(?:curl|wget|apt-get)\b/.test(each))).toEqual([])
  const ignored = textOf('Dockerfile.dockerignore').split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['.env', '.env.*', '.tmp', 'node_modules', 'public/uploads', '.git']))
})

rule('running.6', 'the image runs as a user without rights, and Compose takes more from it', () => {
  expect(instructions.filter((each) => /^(?:USER|CMD)/.test(each))).toEqual([
    'USER node',
    'CMD ["node", "node_modules/octavo/dist/main.js", "start"]',
  ])
  for (const [, service] of octavos)
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
})

const units = readdirSync(deployed('systemd'))

testWith(['systemd'], 'running.1: systemd takes its units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-systemd-'))
  for (const unit of units) writeFileSync(join(folder, unit), textOf('systemd', unit).replace('/usr/bin/node', process.execPath))
  for (const unit of units) {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, unit.replace('@.', '@1.'))], {
      encoding: 'utf8',
    })
    expect([unit, status, (stdout + stderr).split('\n').filter((line) => line.includes(folder))]).toEqual([unit, 0, []])
  }
  rmSync(folder, { recursive: true })
})

rule('running.6', 'units of systemd give the service its own folder, and nothing else', () => {
  for (const unit of units) {
    const lines = textOf('systemd', unit).split('\n')
    expect(lines, unit).toEqual(
      expect.arrayContaining([
        ...['User=octavo', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'ProtectHome=yes', 'PrivateTmp=yes', 'CapabilityBoundingSet='],
        ...['Restart=on-failure', expect.stringMatching(/^StateDirectory=octavo/), 'LogsDirectory=octavo'],
      ]),
    )
    expect(lines.filter((line) => !line.startsWith('#') && /SALT=|SECRET=|PASSWORD=|TOKEN=/.test(line))).toEqual([])
  }
})

rule('running.7', 'units of systemd have nothing that commands need, and their .env has it', () => {
  const [one, several] = ['octavo.service', 'octavo@.service'].map((unit) => {
    const [, text] = /<<END\n(.*?)#\s+END\n/s.exec(textOf('systemd', unit))!
    const named = [...textOf('systemd', unit).matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name!)
    expect(named.filter((name) => /^(?:DATABASE|AWS|API|JWT|ADMIN)_/.test(name))).toEqual([])
    return { named, variables: variablesIn(text!.replaceAll(/^#\s+/gm, '')) }
  })
  for (const { variables } of [one!, several!]) {
    expect(Object.keys(variables)).toEqual(expect.arrayContaining(['API_TOKEN_SALT', 'JWT_SECRET', 'ADMIN_JWT_SECRET']))
    expect(Object.keys(variables).filter((name) => !isKnown(name))).toEqual([])
  }
  expect(one!.named).not.toContain('UPLOADS_DIR')
  expect(one!.variables.DATABASE_FILENAME).toMatch(/^\/var\/lib\/octavo\//)
  // Each instance has its own folder for uploads in progress.
  expect(JSON.parse(several!.variables.OCTAVO_CONFIG!)).toMatchObject({ auth: { sharedLimits: true }, uploads: { storage: {} } })
})

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes of every shape
const objects = parseAllDocuments(textOf('kubernetes', 'octavo.yaml')).map((document): any => document.toJS())
// biome-ignore lint/suspicious/noExplicitAny: as above
const objectOf = (kind: string): any => objects.find((each) => each.kind === kind)

rule('running.1', 'objects of Kubernetes refer to each other', () => {
  expect(objects.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Deployment', 'Service', 'Ingress', 'PodDisruptionBudget'])
  const { template, selector, strategy, replicas } = objectOf('Deployment').spec
  expect([replicas, strategy.rollingUpdate.maxUnavailable]).toEqual([2, 0])
  for (const each of [selector.matchLabels, objectOf('Service').spec.selector, objectOf('PodDisruptionBudget').spec.selector.matchLabels])
    expect(template.metadata.labels).toMatchObject(each)
  const [container] = template.spec.containers
  const ports = new Map(container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]))
  expect(ports).toEqual(
    new Map([
      ['http', 1337],
      ['management', Number(objectOf('ConfigMap').data.OCTAVO_MANAGEMENT_PORT)],
    ]),
  )
  const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet)
  expect(probes).toEqual(['/live', '/live', '/ready'].map((path) => ({ path, port: 'management' })))
  const names = template.spec.volumes.map(({ name }: { name: string }) => name)
  expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(names)
  const [backend] = objectOf('Ingress').spec.rules[0].http.paths
  expect([backend.backend.service.name, backend.backend.service.port.name]).toEqual([
    objectOf('Service').metadata.name,
    objectOf('Service').spec.ports[0].name,
  ])
})

rule('running.1', 'Prometheus finds the metrics of the pods, with their token and under the name of the alerts', () => {
  const { spec } = parse(textOf('kubernetes', 'podmonitor.yaml'))
  const { metadata, spec: pod } = objectOf('Deployment').spec.template
  expect(metadata.labels).toMatchObject(spec.selector.matchLabels)
  expect(metadata.annotations).toBeUndefined()
  const [, job] = /\{job="(\w+)"\}/.exec(textOf('prometheus', 'alerts.yml'))!
  expect(metadata.labels[spec.jobLabel]).toBe(job)
  const [endpoint] = spec.podMetricsEndpoints
  expect(pod.containers[0].ports.map(({ name }: { name: string }) => name)).toContain(endpoint.port)
  expect(pod.containers[0].envFrom).toContainEqual({ secretRef: { name: endpoint.authorization.credentials.name } })
  expect(textOf('kubernetes', 'octavo.yaml')).toContain(`--from-literal=${endpoint.authorization.credentials.key}=`)
})

rule('running.6', 'pods have no rights, and secrets by reference', () => {
  const { spec } = objectOf('Deployment').spec.template
  expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
  expect(spec.containers[0].securityContext).toEqual({
    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  })
  expect(spec.containers[0].envFrom).toEqual([{ configMapRef: { name: 'octavo' } }, { secretRef: { name: 'octavo' } }])
  expect(Object.keys(objectOf('ConfigMap').data).filter((name) => /SALT|SECRET|PASSWORD|TOKEN|KEY|URL$/.test(name))).toEqual(['PUBLIC_URL'])
})

rule('running.3', 'every way to end a service waits longer than its drain time', () => {
  const drained = drainSeconds()
  const waits = [
    ...octavos.map(([, service]) => Number.parseInt(service.stop_grace_period!, 10)),
    ...units.map((unit) => Number(/^TimeoutStopSec=(\d+)$/m.exec(textOf('systemd', unit))![1])),
    objectOf('Deployment').spec.template.spec.terminationGracePeriodSeconds as number,
  ]
  expect(waits.filter((seconds) => seconds <= drained)).toEqual([])
})

/** Seconds of drainDelay and drainTimeout in production, from the configuration that a service has there. */
function drainSeconds(): number {
  const limits = readFileSync(join(root, 'src', 'foundation', 'config', 'limits.ts'), 'utf8')
  const [, timeout] = /drainTimeout: ms\(([\d_]+)\)/.exec(limits)!
  const [, delay] = /production && [^?]*\? ([\d_]+)/.exec(readFileSync(join(root, 'src', 'foundation', 'config', 'config.ts'), 'utf8'))!
  return [timeout, delay].reduce((sum, each) => sum + Number(each!.replaceAll('_', '')), 0) / 1000
}
