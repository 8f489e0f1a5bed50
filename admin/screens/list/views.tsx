// Saved views of a list: opened from a menu, saved under a name, shared with others.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Save, Trash2 } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { type ListState, readListState, writeListState } from '../../addresses.js'
import { AlertDialog } from '../../parts/alert-dialog.js'
import { Button } from '../../parts/button.js'
import { Menu, MenuChoices, MenuItem, MenuLine } from '../../parts/menu.js'
import { useToasts } from '../../parts/toasts.js'
import { useWords } from '../../parts/words.js'
import { type Data, request } from '../../server/client.js'
import { readQuery } from '../../server/queries.js'
import type { TypeInfo } from './list-query.js'
import type { ChangeList } from './list-state.js'

const SaveView = lazy(() => import('./save-view.js'))

/** A saved view. */
type View = Data<'/views', 'GET'>[number]
/** Administrators who have a view. */
export type Visibility = View['visibility']

const viewsQuery = (type: string) => readQuery('/views', { query: { type } })

/** The part of a list's state that a view stores. */
const storedQuery = (state: ListState): string =>
  writeListState({ ...state, view: null, locale: null, columns: null, after: null, before: null })

const isSame = (view: View, state: ListState): boolean =>
  view.query === storedQuery(state) && view.columns.join() === (state.columns ?? []).join()

interface ViewsMenuProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly change: ChangeList
  /** Roles of the reader, that a view can be shared with. */
  readonly roles: readonly number[]
}

/** The menu of saved views; they are asked for when it opens. */
export function ViewsMenu({ type, state, change, roles }: ViewsMenuProps): ReactNode {
  const { list } = useWords()
  const [isOpened, setOpened] = useState(false)
  const [dialog, setDialog] = useState<'save' | 'delete' | null>(null)
  const { data } = useQuery({ ...viewsQuery(type.uid), enabled: isOpened || state.view !== null })
  const views = data?.data ?? []
  const current = views.find(({ id }) => String(id) === state.view)
  const isChanged = current !== undefined && !isSame(current, state)
  const save = useSaveView(type, state)
  const open = (id: string | undefined) => {
    const view = views.find((one) => String(one.id) === id)
    if (view === undefined) return
    const { locale } = state
    change({ ...readListState(view.query), locale, columns: view.columns.length > 0 ? view.columns : null, view: String(view.id) })
  }
  return (
    <>
      <Menu
        label={list.views.title}
        onOpenChange={(isOpen) => isOpen && setOpened(true)}
        trigger={
          <Button kind="quiet" icon={<Bookmark />}>
            {current === undefined ? list.views.title : isChanged ? list.views.changed(current.name) : current.name}
          </Button>
        }
      >
        {views.length > 0 && (
          <MenuChoices
            label={list.views.title}
            isSingle
            choices={views.map((view) => ({
              value: String(view.id),
              label: view.name,
              ...(view.visibility === 'mine' ? {} : { description: list.views.visibilities[view.visibility] }),
            }))}
            value={current === undefined ? [] : [String(current.id)]}
            onChange={([id]) => open(id ?? state.view ?? undefined)}
          />
        )}
        {views.length > 0 && <MenuLine />}
        {isChanged && current.isMine && (
          <MenuItem icon={<Save />} onPress={() => void save.update(current)}>
            {list.views.update}
          </MenuItem>
        )}
        <MenuItem icon={<Bookmark />} onPress={() => setDialog('save')}>
          {list.views.save}
        </MenuItem>
        {current?.isMine && (
          <MenuItem icon={<Trash2 />} isDanger onPress={() => setDialog('delete')}>
            {list.views.delete}
          </MenuItem>
        )}
      </Menu>
      <Suspense>
        {dialog === 'save' && (
          <SaveView
            roles={roles}
            onClose={() => setDialog(null)}
            onSave={async (name, visibility) => {
              const id = await save.create(name, visibility, visibility === 'roles' ? roles : [])
              change({ ...state, view: String(id) }, true)
              setDialog(null)
            }}
          />
        )}
      </Suspense>
      {current !== undefined && (
        <AlertDialog
          isOpen={dialog === 'delete'}
          onClose={() => setDialog(null)}
          title={list.views.deleteTitle(current.name)}
          action={list.views.deleteAction}
          onConfirm={async () => {
            await save.remove(current)
            change({ ...state, view: null }, true)
          }}
        >
          <p>{list.views.deleteText}</p>
        </AlertDialog>
      )}
    </>
  )
}

/** Requests that save, change and delete views. */
function useSaveView(type: TypeInfo, state: ListState) {
  const { list } = useWords()
  const toasts = useToasts()
  const cache = useQueryClient()
  const refresh = () => cache.invalidateQueries({ queryKey: viewsQuery(type.uid).queryKey })
  const definition = { query: storedQuery(state), columns: [...(state.columns ?? [])] }
  const tagged = ({ revision }: View) => ({ 'if-match': `"${revision}"` })
  const reported = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      toasts.say(error instanceof Error ? error.message : String(error), { kind: 'wrong' })
    }
    await refresh()
  }
  return {
    create: async (name: string, visibility: Visibility, roles: readonly number[]) => {
      const { data } = await request('POST', '/views', { body: { type: type.uid, name, ...definition, visibility, roles: [...roles] } })
      await refresh()
      return data.id
    },
    update: (view: View) =>
      reported(async () => {
        await request('PATCH', '/views/{id}', { path: { id: view.id }, headers: tagged(view), body: definition })
        toasts.say(list.views.updated(view.name), { kind: 'good' })
      }),
    remove: (view: View) => reported(() => request('DELETE', '/views/{id}', { path: { id: view.id }, headers: tagged(view) })),
  }
}
