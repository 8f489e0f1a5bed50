// All routes of the API except those of content-types, which depend on the model, and those of the project.
import type { Route } from '../../request-context.js'
import { authenticationRoutes } from './authentication.js'
import { contentTypeBuilderRoutes } from './content-type-builder.js'
import { emailRoutes } from './email.js'
import { fileRoutes } from './files.js'
import { localeRoutes } from './locales.js'
import { oauthRoutes } from './oauth.js'
import { usersAndRolesRoutes } from './users-and-roles.js'

export const routes: readonly Route[] = [
  ...usersAndRolesRoutes,
  ...authenticationRoutes,
  ...oauthRoutes,
  ...emailRoutes,
  ...fileRoutes,
  ...localeRoutes,
  ...contentTypeBuilderRoutes,
]
