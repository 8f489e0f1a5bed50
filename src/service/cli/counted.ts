// Numbers with what they count: `1 row`, `2 rows`.

/** `plural`: by default the singular with an s. */
export const counted = (count: number, singular: string, plural = `${singular}s`): string => `${count} ${count === 1 ? singular : plural}`
