// The names that locales have before anybody gives them one.

/** What a locale is called before anyone names it, as in Strapi's list: `French (fr)`, `English (United Kingdom) (en-GB)`. */
export function localeName(code: string): string {
  const names = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' })
  try {
    return `${names.of(code) ?? code} (${code})`
  } catch {
    // Not built like the code of a language.
    return code
  }
}
