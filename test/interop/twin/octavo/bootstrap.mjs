// The equivalent of Strapi's bootstrap, as a script that is run before the service starts: node bootstrap.mjs
import { createService, loadConfig } from 'octavo'

const service = await createService(await loadConfig(import.meta.dirname))
try {
  const tags = service.documents('api::tag.tag')
  for (const name of ['Mountains', 'Rivers'])
    if ((await tags.count({ filters: { name } })) === 0) await tags.create({ data: { name, color: 'grey' } })
} finally {
  await service.close()
}
