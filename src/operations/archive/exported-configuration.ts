// Settings and webhooks as the lines of `configuration/`.
import { batchesOf } from '../../database/transfer/row-batches.js'
import type { RowValue } from '../../database/transfer/rows.js'
import { type ExportedTables, withColumns } from './exported-rows.js'
import { jsonText } from './exported-values.js'

/** How a column becomes a member: JSON, a text, a number, or true and false. */
type ColumnForm = 'json' | 'text' | 'number' | 'boolean'

/** A table whose rows are configuration. */
export interface ConfigurationTable {
  readonly table: string
  /** The name of its rows in the archive. */
  readonly type: 'core-store' | 'webhook'
  readonly columns: Readonly<Record<string, ColumnForm>>
}

export const configurationTables: readonly ConfigurationTable[] = [
  {
    table: 'strapi_core_store_settings',
    type: 'core-store',
    columns: { id: 'number', key: 'text', value: 'json', type: 'text', environment: 'text', tag: 'text' },
  },
  {
    table: 'strapi_webhooks',
    type: 'webhook',
    columns: { id: 'number', name: 'text', url: 'text', headers: 'json', events: 'json', enabled: 'boolean' },
  },
]

/** The lines of all settings and webhooks. */
export async function* exportedConfiguration({ source, tables }: ExportedTables): AsyncGenerator<string> {
  for (const { table: name, type, columns } of configurationTables) {
    const table = tables.get(name)
    if (table === undefined) continue
    for await (const batch of batchesOf(source, withColumns(table, Object.keys(columns))))
      for (const row of batch) {
        const members = Object.entries(columns).map(([column, form], index) => `${JSON.stringify(column)}:${written(form, row[index]!)}`)
        yield `{"type":"${type}","value":{${members.join(',')}}}`
      }
  }
}

function written(form: ColumnForm, value: RowValue): string {
  if (value === null || value instanceof Uint8Array) return 'null'
  switch (form) {
    case 'json':
      return jsonText(value)
    case 'number':
      return String(value)
    case 'boolean':
      return String(value === 1)
    case 'text':
      return JSON.stringify(String(value))
  }
}
