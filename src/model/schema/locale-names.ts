// Default names of locales.

/** Returns the default name of a locale, as in Strapi: `French (fr)`, `English (United Kingdom) (en-GB)`. */
export function localeName(code: string): string {
  const names = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' })
  try {
    return `${names.of(code) ?? code} (${code})`
  } catch {
    // The code is not a valid language code.
    return code
  }
}
