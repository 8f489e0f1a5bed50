// The dashboard and the alerts that come with the service name metrics that a real service exposes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { managed, requestManagement } from '../support/management.js'
import { rule } from '../support/rule.js'
import { serveProject } from '../support/serve.js'
import { contentType } from './library.js'

const root = join(import.meta.dirname, '..', '..')

interface Panel {
  readonly targets?: readonly { readonly expr: string }[]
}

/** The expressions of the dashboard, and of the alerts. */
function expressions(): readonly string[] {
  const { panels } = JSON.parse(readFileSync(join(root, 'deploy', 'grafana', 'octavo.json'), 'utf8')) as {
    readonly panels: readonly Panel[]
  }
  const alerts = readFileSync(join(root, 'deploy', 'prometheus', 'alerts.yml'), 'utf8')
  return [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...[...alerts.matchAll(/^ +expr: (.*)$/gm)].map(([, expr]) => expr!),
  ]
}

/** The metrics that an expression names: words that are no functions, no words of the language, and no labels. */
const metricsIn = (expression: string): readonly string[] =>
  [
    ...expression
      .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, '')
      .replaceAll(/\b(?:by|without|on) \([^)]*\)/g, '')
      .matchAll(/\b[a-z][a-z0-9_]+\b(?!\s*\()/g),
  ]
    .map(([name]) => name)
    .filter((name) => !['and', 'or', 'offset', 'sum', 'max', 'min', 'count', 'topk', 'up', '1d', 'e9'].includes(name))

/** The labels that an expression selects or groups by. */
const labelsIn = (expression: string): readonly string[] => [
  ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(',').map((label) => label.trim())),
  ...[...expression.matchAll(/(\w+)=~?"/g)].map(([, label]) => label!),
]

/** Labels that Prometheus itself adds, and that of buckets. */
const added = new Set(['job', 'instance', 'le'])

rule('operations.13', 'every metric of the dashboard and the alerts is exposed, and every metric of Octavo is in the guide', async () => {
  const served = await serveProject(contentType('note', { name: { type: 'string' } }), { config: managed })
  const { text } = await requestManagement(served, '/metrics')
  await served.close()
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
  const exposed = new Set(
    [...types].flatMap(([name, type]) =>
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name, `${name}_sum`],
    ),
  )
  const asked = expressions()
  expect(asked.length).toBeGreaterThan(35)
  const named = asked.flatMap(metricsIn)
  expect(named.length).toBeGreaterThan(40)
  expect([...new Set(named)].filter((name) => !exposed.has(name))).toEqual([])

  const guide = readFileSync(join(root, 'docs', 'guide', 'production.md'), 'utf8')
  const own = [...types.keys()].filter((name) => !/^(?:process|nodejs)_/.test(name))
  expect(own.length).toBeGreaterThan(18)
  expect(own.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  const labels = new Set(asked.flatMap(labelsIn).filter((label) => !added.has(label)))
  expect([...labels].filter((label) => !guide.includes(`\`${label}\``))).toEqual([])
})
