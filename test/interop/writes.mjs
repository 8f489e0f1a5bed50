// Random conversations that write, held with Strapi and Octavo at once over the same content: `node test/interop/writes.mjs`.
// --model golden|N   the golden project, or one made by a seed (default 1)   --from N --count N   seeds of conversations
// --strict   everything is published before it is linked   --types a,b   only these   --show N   differences in full
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { conversations } from './writes-conversation.mjs'
import { prepareProject, startBoth } from './writes-servers.mjs'

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    show: { type: 'string', default: '3' },
    raw: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    types: { type: 'string' },
    json: { type: 'string' },
  },
})

const project = await prepareProject(values.model)
const servers = await startBoth(project)
const converse = conversations({ ...project, servers, strict: values.strict, only: values.types?.split(',') })
const kinds = new Map()
const found = []
const points = new Map()
let [requests, writes, refused, same] = [0, 0, 0, 0]
const short = (value, most = 250) => JSON.stringify(value)?.slice(0, most)
function show(outcome) {
  console.log(
    `\n=== ${outcome.seed}: ${outcome.what} at ${outcome.path}\n  strapi ${short(outcome.strapi, 700)}\n  octavo ${short(outcome.octavo, 700)}`,
  )
  for (const { method, schema, doc, creates, query, body, status } of outcome.steps.slice(-20))
    console.log(
      `  ${status} ${method} ${schema.info.singularName} ${creates ?? doc} ?${query.slice(0, 40)} ${short(body, outcome.steps.at(-1)?.body === body ? 1500 : 250)}`,
    )
}
const from = Number(values.from)
for (let seed = from; seed < from + Number(values.count); seed += 1) {
  const outcome = await converse(seed)
  const isNamed = Boolean(outcome.named)
  process.stderr.write(outcome.what === null ? '.' : isNamed ? 'n' : 'x')
  requests += outcome.requests
  writes += outcome.steps.length
  refused += outcome.refused
  for (const point of outcome.points) points.set(point, (points.get(point) ?? 0) + 1)
  if (outcome.what === null || isNamed) {
    same += 1
    continue
  }
  found.push(outcome)
  if (found.length <= Number(values.show)) show(outcome)
  const where = outcome.path.replace(/\d+/g, '#').split('\n')[0]
  const kind = `${outcome.what.replace(/#?\d+( |$)/g, '# ')}: ${where}`
  kinds.set(kind, [...(kinds.get(kind) ?? []), seed])
}
console.log(
  `\n${same} of ${values.count} conversations agree but for what is named: ${requests} requests, of them ${writes} writes (${refused} refused)`,
)
for (const [point, count] of points) console.log(`${String(count).padStart(5)}  named: ${point}`)
for (const [kind, seeds] of [...kinds].sort((a, b) => b[1].length - a[1].length))
  console.log(`${String(seeds.length).padStart(5)}  ${kind}  (${seeds.slice(0, 4).join(', ')})`)
if (values.json)
  writeFileSync(
    values.json,
    JSON.stringify(found, (key, value) => (key === 'schema' ? value.info.singularName : value), 1),
  )
for (const server of servers) await server.stop()
