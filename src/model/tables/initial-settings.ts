// Initial settings of a new database: files, sign-up, e-mail templates, and sign-in providers.

interface InitialProvider {
  readonly icon: string
  readonly enabled: boolean
  readonly key: string
  readonly secret: string
  readonly callbackUrl?: string
  readonly callback?: string
  readonly scope?: readonly string[]
  readonly subdomain?: string
}

const provider = (icon: string, callback: Partial<InitialProvider>, scope?: readonly string[], subdomain?: string): InitialProvider => ({
  icon,
  enabled: false,
  key: '',
  secret: '',
  ...(subdomain === undefined ? {} : { subdomain }),
  ...callback,
  ...(scope === undefined ? {} : { scope }),
})
/** Strapi calls the way back `callbackUrl` for older providers, `callback` for newer ones. */
const url = (name: string) => ({ callbackUrl: `api/auth/${name}/callback` })
const path = (name: string) => ({ callback: `api/auth/${name}/callback` })

/** Other services that may sign users in, all off: Strapi adds those that are missing. */
const providers: Readonly<Record<string, InitialProvider>> = {
  discord: provider('discord', url('discord'), ['identify', 'email']),
  facebook: provider('facebook-square', url('facebook'), ['email']),
  google: provider('google', url('google'), ['email']),
  github: provider('github', url('github'), ['user', 'user:email']),
  microsoft: provider('windows', url('microsoft'), ['user.read']),
  twitter: provider('twitter', url('twitter')),
  instagram: provider('instagram', url('instagram'), ['user_profile']),
  vk: provider('vk', url('vk'), ['email']),
  twitch: provider('twitch', url('twitch'), ['user:read:email']),
  linkedin: provider('linkedin', url('linkedin'), ['r_liteprofile', 'r_emailaddress']),
  cognito: provider('aws', path('cognito'), ['email', 'openid', 'profile'], 'my.subdomain.com'),
  reddit: provider('reddit', path('reddit'), ['identity']),
  auth0: provider('', path('auth0'), ['openid', 'email', 'profile'], 'my-tenant.eu'),
  cas: provider('book', path('cas'), ['openid email'], 'my.subdomain.com/cas'),
  patreon: provider('', path('patreon'), ['identity', 'identity[email]']),
  keycloak: provider('', path('keycloak'), ['openid', 'email', 'profile'], 'myKeycloakProvider.com/realms/myrealm'),
}

const letter = (display: string, icon: string, subject: string, message: string) => ({
  display: `Email.template.${display}`,
  icon,
  options: { from: { name: 'Octavo', email: 'no-reply@example.com' }, response_email: '', object: subject, message },
})

/** Settings by their key in `strapi_core_store_settings`. */
export const initialSettings: Readonly<Record<string, unknown>> = {
  'strapi_unidirectional-join-table-repair-ran': true,
  plugin_upload_settings: { sizeOptimization: true, responsiveDimensions: true, autoOrientation: false, aiMetadata: true },
  plugin_upload_view_configuration: { pageSize: 10, sort: 'createdAt:DESC' },
  'plugin_users-permissions_advanced': {
    unique_email: true,
    allow_register: true,
    email_confirmation: false,
    email_reset_password: null,
    email_confirmation_redirection: null,
    default_role: 'authenticated',
  },
  'plugin_users-permissions_email': {
    reset_password: letter(
      'reset_password',
      'sync',
      'Choose a new password',
      '<p>Someone, probably you, asked for a new password for your account.</p>\n<p>Choose it here: <%= URL %>?code=<%= TOKEN %></p>\n<p>If it was not you, there is nothing to do.</p>',
    ),
    email_confirmation: letter(
      'email_confirmation',
      'check-square',
      'Confirm your address',
      '<p>Welcome! Please confirm that this address is yours:</p>\n<p><%= URL %>?confirmation=<%= CODE %></p>',
    ),
  },
  'plugin_users-permissions_grant': { email: { icon: 'envelope', enabled: true }, ...providers },
  core_admin_auth: { providers: { autoRegister: false, defaultRole: null, ssoLockedRoles: null } },
}
