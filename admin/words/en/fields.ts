// English texts: fields.

const kinds = {
  ...{ paragraph: 'Paragraph', quote: 'Quote', codeBlock: 'Code', ordered: 'Numbered list', unordered: 'List', other: 'Other' },
  ...{ 'heading-1': 'Heading 1', 'heading-2': 'Heading 2', 'heading-3': 'Heading 3' },
  ...{ 'heading-4': 'Heading 4', 'heading-5': 'Heading 5', 'heading-6': 'Heading 6' },
}

export const fields = {
  /** The editor of blocks. */
  blocks: {
    kinds,
    flags: { bold: 'Bold', italic: 'Italic', underline: 'Underline', strikethrough: 'Strikethrough', code: 'Code' },
    toolbar: 'Formatting',
    kind: 'Kind of text',
    codeLanguage: 'Language of the code',
    placeholder: 'Write, or type / for headings, lists and pictures',
    insert: 'Insert',
    keysHint: 'Alt+F10 goes to the toolbar. In lists and code, Escape then Tab leaves the text.',
    link: 'Link',
    linkAddress: 'Address',
    linkText: 'Text',
    linkWrong: 'Please enter a web address, an e-mail address, or a path that begins with a slash.',
    linkMake: 'Add link',
    linkChange: 'Change link',
    linkRemove: 'Remove link',
    linkVisit: 'Open',
    image: 'Picture',
    imageInsert: 'Insert pictures',
    imageRemove: 'Remove picture',
    alternativeText: 'Alternative text',
    caption: 'Caption',
    close: 'Close',
    undo: 'Undo',
    redo: 'Redo',
    views: {
      unknown: (kind: string) => `Content of the kind “${kind}” cannot be edited here. It stays as it is.`,
      missingAlternative: 'No alternative text',
    },
  },
}
