// Settings of the service. docs/guide/configuration.md in the package octavo lists all of them with their defaults.

/** @type {import('octavo').UserConfig} */
export default {
  api: {
    rest: {
      // Reading drafts (?status=draft) requires the permission findDraft of the content-type.
      draftGrant: true,
      // Query parameters that do not exist are refused with 400.
      strictParams: true,
    },
    // Published content must have its required relations and files.
    documents: { strictRelations: true },
  },
  // Additional indexes: writes of relations and sorted lists stay fast as the content grows, for a third more disk space.
  database: { indexes: true },
}
