import { test } from 'vitest'
import { serveGolden, serveMagazine, serveProject } from '../support/serve.js'

test('x', async () => {
  for (let i = 0; i < 2; i++) {
    let t = performance.now()
    const s = await serveMagazine({ config: { api: { rest: { contract: 'specification' } } } })
    console.log('magazine', performance.now() - t)
    t = performance.now()
    console.log((await s.ask('/api/articles?fields[0]=title&pagination[pageSize]=1')).text)
    console.log('ask', performance.now() - t)
    t = performance.now()
    await s.close()
    console.log('close', performance.now() - t)
    t = performance.now()
    const g = await serveGolden({})
    console.log('golden', performance.now() - t)
    t = performance.now()
    await g.close()
    console.log('close', performance.now() - t)
    t = performance.now()
    const p = await serveProject({})
    console.log('project', performance.now() - t)
    t = performance.now()
    await p.close()
  }
})
