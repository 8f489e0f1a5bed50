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
    // Required relations and files have to be there in what is published.
    documents: { strictRelations: true },
  },
  // Indexes of Octavo's own: writes of relations and sorted lists stay fast as the content grows, for a third more disk space.
  database: { indexes: true },
}
