// Octavo's equivalent of the code in ../strapi.
import { hooks } from './code/hooks.mjs'
import { routes } from './code/routes.mjs'
import { schedules } from './code/schedules.mjs'
import { types } from './code/types.mjs'

export default { types, hooks, routes, schedules }
