// Links in texts of editors that may be followed.

/** True for web, mail and telephone addresses, and for relative ones. */
export function isSafeLink(url: unknown): boolean {
  if (typeof url !== 'string') return false
  // Browsers ignore these in schemes, also in front of them.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are ignored.
  const plain = url.replace(/[\u0000-\u0020]/g, '')
  const [, scheme] = /^([a-z][a-z\d+.-]*):/i.exec(plain) ?? []
  return scheme === undefined || /^(https?|mailto|tel)$/i.test(scheme)
}
