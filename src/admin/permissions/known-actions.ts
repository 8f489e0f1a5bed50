// The actions of Strapi's panel that concern no content-type. Its start deletes rows with others.

const each = (scope: string, ...names: readonly string[]): readonly string[] => names.map((name) => `${scope}.${name}`)

/** The actions of Strapi 5 that a role can be given without a subject. */
export const panelActions: ReadonlySet<string> = new Set([
  'admin::marketplace.read',
  ...each('admin::webhooks', 'create', 'read', 'update', 'delete'),
  ...each('admin::users', 'create', 'read', 'update', 'delete'),
  ...each('admin::roles', 'create', 'read', 'update', 'delete'),
  ...each('admin::api-tokens', 'access', 'create', 'read', 'update', 'regenerate', 'delete'),
  ...each('admin::transfer.tokens', 'access', 'create', 'read', 'update', 'regenerate', 'delete'),
  ...each('admin::project-settings', 'read', 'update'),
  'plugin::content-manager.single-types.configure-view',
  'plugin::content-manager.collection-types.configure-view',
  'plugin::content-manager.components.configure-layout',
  'plugin::content-type-builder.read',
  ...each(
    'plugin::upload',
    'read',
    'assets.create',
    'assets.update',
    'assets.download',
    'assets.copy-link',
    'configure-view',
    'settings.read',
  ),
  ...each('plugin::i18n.locale', 'create', 'read', 'update', 'delete'),
  'plugin::email.settings.read',
  ...each('plugin::users-permissions.roles', 'create', 'read', 'update', 'delete'),
  ...each('plugin::users-permissions.providers', 'read', 'update'),
  ...each('plugin::users-permissions.email-templates', 'read', 'update'),
  ...each('plugin::users-permissions.advanced-settings', 'read', 'update'),
  ...each('plugin::content-releases', 'read', 'create', 'update', 'delete', 'publish', 'create-action', 'delete-action'),
  ...each('plugin::content-releases.settings', 'read', 'update'),
])

/** Of these, the ones that may have conditions: they are about files, which have a creator. */
export const conditionalActions: ReadonlySet<string> = new Set(
  each('plugin::upload', 'read', 'assets.create', 'assets.update', 'assets.download', 'assets.copy-link'),
)
