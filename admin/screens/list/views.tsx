// Saved views of a list: opened from a menu, saved under a name, shared with others.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Pencil, Save, Trash2 } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { type ListState, readListState, writeListState } from '../../addresses.js'
import { AlertDialog } from '../../parts/alert-dialog.js'
import { Button } from '../../parts/button.js'
import { Menu, MenuChoices, MenuItem, MenuLine } from '../../parts/menu.js'
import { useToasts } from '../../parts/toasts.js'
import { useWords } from '../../parts/words.js'
import { type Data, request } from '../../server/client.js'
import { readQuery } from '../../server/queries.js'
import { personName } from '../../words/format.js'
import { preference } from '../shell/preferences.js'
import type { Start } from '../shell/type-names.js'
import type { TypeInfo } from './list-query.js'
import type { ChangeList } from './list-state.js'

const SaveView = lazy(() => import('./save-view.js'))

/** A saved view. */
export type View = Data<'/views', 'GET'>[number]
/** Administrators who have a view. */
export type Visibility = View['visibility']

const viewsQuery = (type: string) => readQuery('/views', { query: { type } })

/** The part of a list's state that a view stores. */
const storedQuery = (state: ListState): string =>
  writeListState({ ...state, view: null, locale: null, columns: null, density: null, after: null, before: null })

/** Densities of views as the page has them; null: that of the reader. */
const densities = { normal: null, compact: 'compact', wide: 'comfortable' } as const

const storedDensity = ({ density }: ListState): View['density'] =>
  density === 'compact' ? 'compact' : density === 'comfortable' ? 'wide' : 'normal'

const isSame = (view: View, state: ListState): boolean =>
  view.query === storedQuery(state) && view.columns.join() === (state.columns ?? []).join() && view.density === storedDensity(state)

interface ViewsMenuProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly change: ChangeList
  /** The reader; a view can be shared with own roles. */
  readonly me: Start['me']
}

/** The menu of saved views; they are asked for when it opens. */
export function ViewsMenu({ type, state, change, me }: ViewsMenuProps): ReactNode {
  const { list } = useWords()
  const [dialog, setDialog] = useState<'save' | 'rename' | 'delete' | null>(null)
  const { data, refetch } = useQuery({ ...viewsQuery(type.uid), enabled: state.view !== null })
  const views = data?.data ?? []
  const current = views.find(({ id }) => String(id) === state.view)
  const isChanged = current !== undefined && !isSame(current, state)
  const save = useSaveView(type, state)
  const roles = me.roles.map(({ id }) => id)
  const sharingOf = ({ visibility, owner }: View) =>
    [list.views.visibilities[visibility], ...(owner.id === me.id ? [] : [personName(owner)])].join(' · ')
  const open = (id: string | undefined) => {
    const view = views.find((one) => String(one.id) === id)
    if (view === undefined) return
    const columns = view.columns.length > 0 ? view.columns : null
    const density = densities[view.density]
    change({ ...readListState(view.query), locale: state.locale, columns, density, view: String(view.id) })
  }
  return (
    <>
      <Menu
        label={list.views.title}
        onOpenChange={(isOpen) => isOpen && void refetch()}
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
              ...(view.visibility === 'mine' ? {} : { description: sharingOf(view) }),
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
          <MenuItem icon={<Pencil />} onPress={() => setDialog('rename')}>
            {list.views.rename}
          </MenuItem>
        )}
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
              const density = state.density ?? (preference('density') === 'compact' ? 'compact' : null)
              const id = await save.create(name, visibility, visibility === 'roles' ? roles : [], { ...state, density })
              change({ ...state, density, view: String(id) }, true)
              setDialog(null)
            }}
          />
        )}
        {dialog === 'rename' && current !== undefined && (
          <SaveView
            view={current}
            roles={roles}
            isOthers={current.owner.id !== me.id}
            onClose={() => setDialog(null)}
            onSave={async (name, visibility) => {
              await save.rename(current, name, visibility, roles)
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
  const definitionOf = (given: ListState) => ({
    query: storedQuery(given),
    columns: [...(given.columns ?? [])],
    density: storedDensity(given),
  })
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
    create: async (name: string, visibility: Visibility, roles: readonly number[], given: ListState) => {
      const body = { type: type.uid, name, ...definitionOf(given), visibility, roles: [...roles] }
      const { data } = await request('POST', '/views', { body })
      await refresh()
      return data.id
    },
    /** Another visibility needs a right that a name does not. */
    rename: async (view: View, name: string, visibility: Visibility, roles: readonly number[]) => {
      const sharing = visibility === view.visibility ? {} : { visibility, roles: visibility === 'roles' ? [...roles] : [] }
      await request('PATCH', '/views/{id}', { path: { id: view.id }, headers: tagged(view), body: { name, ...sharing } }).finally(refresh)
    },
    update: (view: View) =>
      reported(async () => {
        await request('PATCH', '/views/{id}', { path: { id: view.id }, headers: tagged(view), body: definitionOf(state) })
        toasts.say(list.views.updated(view.name), { kind: 'good' })
      }),
    remove: (view: View) => reported(() => request('DELETE', '/views/{id}', { path: { id: view.id }, headers: tagged(view) })),
  }
}
