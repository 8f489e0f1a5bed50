// In place of bootstrap: a script that is run after a deployment, or once. node bootstrap.mjs
import { createService, loadConfig } from 'octavo'

const service = await createService(await loadConfig(import.meta.dirname))
try {
  const tags = service.documents('api::tag.tag')
  const wanted = ['Rivers', 'Mountains']
  const there = new Set((await tags.findMany({ filters: { name: { $in: wanted } } })).map(({ name }) => name))
  const missing = wanted.filter((name) => !there.has(name))
  await tags.createMany({ data: missing.map((name) => ({ name })) })
  console.log(`${missing.length} tags were added`)
} finally {
  await service.close()
}
