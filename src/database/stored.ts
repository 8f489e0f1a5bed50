// What a column may hold, in the forms that the service knows: moments as milliseconds since 1970, booleans as 0 and 1, JSON as text.
export type Stored = string | number | bigint | null
