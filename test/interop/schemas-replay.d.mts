export interface Replayed {
  readonly schemas: number
  readonly refused: number
  readonly tables: number
  readonly requests: number
  readonly alike: number
  readonly named: number
  readonly differences: readonly string[]
}

export function replay(lines: readonly object[], every?: number): Promise<Replayed>
