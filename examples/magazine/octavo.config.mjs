// Settings of the example. Those of every project: docs/guide/configuration.md
import { preview, website } from './website.mjs'

export default {
  admin: { demo: true, preview },
  database: { indexes: true },
  routes: [website],
}
