/** Where Strapi is installed for comparisons. */
export const strapiFolder: string
/** Writes the project for measurements, and installs Strapi if it is missing. */
export function prepareStrapi(): Promise<void>
