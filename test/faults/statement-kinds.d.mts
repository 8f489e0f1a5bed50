export const recording: RegExp
export const committing: RegExp
export function isReading(text: string): boolean
