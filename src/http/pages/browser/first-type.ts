// Creates the first content-type of a project: the page sends its schema, and the service writes the file.

/** Sends a schema. Resolves to the path of the written file; throws an error with the refusal. */
async function create(schema: string): Promise<string> {
  const response = await fetch('/_octavo/content-types', { method: 'POST', headers: { 'content-type': 'application/json' }, body: schema })
  const { data, error } = (await response.json()) as { readonly data: { readonly file: string } | null; readonly error?: Error }
  if (data === null || !response.ok) throw new Error(error?.message ?? response.statusText)
  return data.file
}

/** Creates the type of the clicked button, if it is one of these; `made` is called with the path of the file. */
export async function createByButton(button: HTMLButtonElement, made: (file: string) => Promise<void>): Promise<void> {
  const schema = button.id === 'create' ? document.querySelector<HTMLTextAreaElement>('#schema')!.value : button.dataset.schema
  if (schema === undefined) return
  const buttons = document.querySelectorAll<HTMLButtonElement>('.first button')
  const problem = document.querySelector('#problem')
  for (const one of buttons) one.disabled = true
  try {
    await made(await create(schema))
  } catch (error) {
    if (problem !== null) problem.textContent = (error as Error).message.replace(/^data\.api::[\w-]+\.[\w-]+\./, '')
  }
  for (const one of buttons) one.disabled = false
}
