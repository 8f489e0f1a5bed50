// What Strapi says of its own content-types beyond what serving them needs. Strapi's import compares every word of a schema.

interface Details {
  readonly info?: Readonly<Record<string, string>>
  readonly options?: Readonly<Record<string, unknown>>
  readonly pluginOptions?: Readonly<Record<string, unknown>>
  readonly attributes?: Readonly<Record<string, object>>
}

const options = { draftAndPublish: false }
const hidden = { 'content-manager': { visible: false }, 'content-type-builder': { visible: false } }

/** Types that are not shown where content is written. */
const type = (info: Details['info'] = {}, more: Partial<Details> = {}): Details => ({ info, options, pluginOptions: hidden, ...more })

const named = (name: string, more?: Partial<Details>): Details => type({ name, description: '' }, more)

const notUnique = { unique: false }

/** By the uids of Strapi's own content-types. */
export const builtInDetails: Readonly<Record<string, Details>> = {
  'plugin::upload.file': type({ description: '' }),
  'plugin::upload.folder': type(),
  'plugin::i18n.locale': type({ collectionName: 'locales', description: '' }),
  'plugin::content-releases.release': type(),
  'plugin::content-releases.release-action': type(),
  'plugin::review-workflows.workflow': named('Workflow'),
  'plugin::review-workflows.workflow-stage': named('Workflow Stage', { options: { version: '1.1.0', draftAndPublish: false } }),
  'plugin::users-permissions.permission': named('permission'),
  'plugin::users-permissions.role': named('role'),
  'plugin::users-permissions.user': {
    info: { name: 'user', description: '' },
    options: { timestamps: true, draftAndPublish: false },
  },
  'admin::permission': named('Permission'),
  'admin::user': named('User', { attributes: { firstname: notUnique, lastname: notUnique, username: notUnique } }),
  'admin::role': named('Role'),
  'admin::api-token': named('Api Token'),
  'admin::api-token-permission': named('API Token Permission'),
  'admin::transfer-token': named('Transfer Token'),
  'admin::transfer-token-permission': named('Transfer Token Permission'),
  'admin::session': type(
    { name: 'Session', description: 'Session Manager storage' },
    { pluginOptions: { ...hidden, i18n: { localized: false } } },
  ),
}
