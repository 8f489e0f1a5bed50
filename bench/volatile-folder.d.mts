/** A folder in memory, where many small files are written fast; the folder for temporary files where memory has too little space. */
export function volatileFolder(): string
