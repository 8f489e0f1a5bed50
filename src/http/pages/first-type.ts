// What the start page of a project without content-types offers: some that are ready, and a place for the schema of another one.
import { escapeHtml } from './escape-html.js'
import { readyTypes } from './ready-types.js'

/** The offer. `creates`: the page may create types. */
export function firstTypeHtml(creates: boolean): string {
  if (!creates)
    return '<p class="note">There are no content-types yet. Add a <code>schema.json</code> below <code>src/api</code>: <code>octavo dev</code> serves it as soon as it is saved.</p>'
  const choices = readyTypes.map((schema) => {
    const names = Object.keys(schema.attributes).join(', ')
    return `<button type="button" class="choice" data-schema="${escapeHtml(JSON.stringify(schema))}"><b>${schema.info.displayName}</b> ${names}</button>`
  })
  return `<section class="first"><h2>Create the first content-type</h2>
<p class="note">Begin with one of these, or add a <code>schema.json</code> below <code>src/api</code>: <code>octavo dev</code> serves it as soon as it is saved.</p>
${choices.join('')}<details class="paste"><summary>Paste a schema</summary><textarea id="schema" aria-label="Schema as JSON" rows="10" spellcheck="false">${escapeHtml(JSON.stringify(readyTypes[0], null, 2))}</textarea><button type="button" id="create">Create the type</button></details>
<p id="problem" class="bad" role="alert"></p></section>`
}
