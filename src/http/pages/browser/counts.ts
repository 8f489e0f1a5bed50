// How many documents of each type are published, asked of the API itself: whoever may not read a type learns nothing.

/** Requests at the same time. */
const atOnce = 4

/** Fills in the number of documents of each list; `lists` have the path of a type, and an element for its number. */
export async function countDocuments(lists: Iterable<HTMLElement>): Promise<void> {
  const waiting = [...lists]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await countOne(next)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

async function countOne(list: HTMLElement): Promise<void> {
  const place = list.querySelector('.count')
  const response = await fetch(`${list.dataset.list}?pagination[pageSize]=1&fields[0]=id`).catch(() => null)
  if (place === null || response === null || !response.ok) return
  const { meta } = (await response.json()) as { readonly meta?: { readonly pagination?: { readonly total?: number } } }
  const total = meta?.pagination?.total
  if (total === undefined) return
  place.textContent = `${total.toLocaleString('en')} ${list.dataset.count}`
}
