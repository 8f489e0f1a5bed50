// Programs that some tests need, and the line at the end of a run that names the missing ones.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Reporter, TestModule, TestSuite } from 'vitest/node'
import { missingForMariadb } from '../../bench/mariadb-cluster.mjs'
import { missingForCluster } from '../../bench/postgres-cluster.mjs'
import { strapiFolder } from '../../bench/strapi.mjs'

const galera = '/usr/lib/galera/libgalera_smm.so'

/** The path of a program; null: not installed. */
export const programOf = (name: string): string | null =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null

const hasAll = (...names: readonly string[]): boolean => names.every((name) => programOf(name) !== null)

interface Requirement {
  isMissing(): boolean
  /** Debian's packages, or the command that installs it. */
  readonly install: readonly string[] | string
  /** True if REQUIRE_SERVERS makes its absence a failure. */
  readonly isRequired: boolean
}

const programs = {
  PostgreSQL: { isMissing: () => missingForCluster() !== null, install: ['postgresql'], isRequired: true },
  MariaDB: { isMissing: () => missingForMariadb() !== null, install: ['mariadb-server'], isRequired: true },
  Chromium: { isMissing: () => !hasAll('chromium'), install: ['chromium'], isRequired: true },
  HAProxy: { isMissing: () => !hasAll('haproxy'), install: ['haproxy'], isRequired: true },
  Patroni: { isMissing: () => !hasAll('patroni', 'etcd'), install: ['patroni', 'etcd-server'], isRequired: true },
  Galera: {
    isMissing: () => !existsSync(galera) || !hasAll('wsrep_sst_rsync', 'rsync'),
    install: ['galera-4', 'rsync'],
    isRequired: true,
  },
  nginx: { isMissing: () => !hasAll('nginx', 'openssl'), install: ['nginx', 'openssl'], isRequired: true },
  Prometheus: { isMissing: () => !hasAll('promtool'), install: ['prometheus'], isRequired: false },
  systemd: { isMissing: () => spawnSync('systemd-analyze', ['--version']).status !== 0, install: ['systemd'], isRequired: false },
  Strapi: {
    isMissing: () => !existsSync(join(strapiFolder, 'node_modules', '@strapi', 'strapi')),
    install: 'npm run bench',
    isRequired: false,
  },
} satisfies Readonly<Record<string, Requirement>>

export type ProgramName = keyof typeof programs

/**
 * The programs of these that are not installed. With REQUIRE_SERVERS=1 a missing one is an error, so that a deciding run skips nothing.
 */
export function missingOf(...names: readonly ProgramName[]): readonly ProgramName[] {
  const missing = names.filter((name) => programs[name].isMissing())
  const required = missing.filter((name) => programs[name].isRequired)
  if (process.env.REQUIRE_SERVERS === '1' && required.length > 0) throw new Error(`${required.join(', ')}: not installed`)
  return missing
}

const skipped = / \(skipped without ([\w, ]+)\)$/

/** The title of tests that are skipped without these programs. */
export const titleWithout = (title: string, missing: readonly ProgramName[]): string => `${title} (skipped without ${missing.join(', ')})`

/** Says in one line which programs were missing and how to install them. */
export class MissingPrograms implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const titles: string[] = []
    const visit = (parent: TestModule | TestSuite): void => {
      for (const child of parent.children) {
        titles.push(child.name)
        if (child.type === 'suite') visit(child)
      }
    }
    modules.forEach(visit)
    const missing = [...new Set(titles.flatMap((title) => skipped.exec(title)?.[1]?.split(', ') ?? []))] as ProgramName[]
    if (missing.length === 0) return
    const installs = missing.map((name): Requirement['install'] => programs[name].install)
    const packages = installs.filter((each) => typeof each !== 'string').flat()
    const commands = installs.filter((each) => typeof each === 'string')
    const install = [...(packages.length > 0 ? [`apt-get install ${packages.join(' ')}`] : []), ...commands].join('; ')
    console.log(`\nSome tests were skipped without ${missing.join(', ')}. To install: ${install}\n`)
  }
}
