// The home screen: scheduled actions, unfinished work, changes by others, latest changes, drafts that links wait for, and documents by
// state and day.
import { useQuery } from '@tanstack/react-query'
import { EyeOff, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { Button, buttonClass } from '../../parts/button.js'
import { EmptyState } from '../../parts/empty-state.js'
import { ErrorState } from '../../parts/error-state.js'
import { IconButton } from '../../parts/icon-button.js'
import { Menu, MenuItem } from '../../parts/menu.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useWords } from '../../parts/words.js'
import { homeQuery, scheduleQuery } from '../../server/queries.js'
import { usePreference } from '../shell/preferences.js'
import { useTitle } from '../shell/title.js'
import { groupTypes, type Start } from '../shell/type-names.js'
import { DayChart } from './day-chart.js'
import { DocumentRows } from './document-rows.js'
import styles from './home.module.css'
import { ScheduledRows } from './scheduled-rows.js'
import { StateChart } from './state-chart.js'

const boxNames = ['scheduled', 'mine', 'theirs', 'waiting', 'recent', 'states', 'days'] as const
type BoxName = (typeof boxNames)[number]

export default function HomeScreen({ start }: { readonly start: Start }): ReactNode {
  const { shell } = useWords()
  const { data, error, refetch } = useQuery(homeQuery())
  const schedule = useQuery(scheduleQuery())
  const scheduled = schedule.data?.data ?? []
  const [hidden, setHidden] = usePreference('hiddenBoxes')
  const isHidden = (name: BoxName) => hidden.split(' ').includes(name)
  const toggle = (name: BoxName) => setHidden(boxNames.filter((one) => isHidden(one) !== (one === name)).join(' '))
  useTitle(shell.home)
  const { title, waitingText, mineEmpty, theirsEmpty, recentEmpty, ...titles } = shell.startPage
  const home = data?.data
  const shared = { start, scheduled }
  const contentOf: Readonly<Record<BoxName, () => ReactNode>> = {
    scheduled: () => <ScheduledRows actions={scheduled} />,
    mine: () => <DocumentRows {...shared} documents={home!.mine} empty={mineEmpty} />,
    theirs: () => <DocumentRows {...shared} documents={home!.theirs} empty={theirsEmpty} showsAuthor />,
    recent: () => <DocumentRows {...shared} documents={home!.recent} empty={recentEmpty} showsAuthor />,
    waiting: () => (
      <>
        <p className={styles.note}>{waitingText}</p>
        <DocumentRows {...shared} documents={home!.waiting} empty="" />
      </>
    ),
    states: () => <StateChart start={start} states={home!.states} />,
    days: () => <DayChart days={home!.days} />,
  }
  const isEmpty: Partial<Record<BoxName, boolean>> = {
    scheduled: scheduled.length === 0,
    waiting: home?.waiting.length === 0,
    states: home?.states.length === 0,
    days: home?.days.every(({ draft, changed, published }) => draft + changed + published === 0),
  }
  const shown = boxNames.filter((name) => !isHidden(name) && isEmpty[name] !== true)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1 className={styles.title}>{title(start.me.firstname ?? '')}</h1>
        {hidden !== '' && (
          <Menu
            label={shell.startPage.hidden}
            trigger={
              <Button kind="quiet" isSmall>
                {shell.startPage.hidden}
              </Button>
            }
          >
            {boxNames.filter(isHidden).map((name) => (
              <MenuItem key={name} onPress={() => toggle(name)}>
                {titles[name]}
              </MenuItem>
            ))}
          </Menu>
        )}
        <NewButtons start={start} />
      </header>
      {start.types.length === 0 ? (
        <EmptyState title={shell.nothingToSee} text={shell.nothingToSeeText} />
      ) : error !== null && home === undefined ? (
        <ErrorState onRetry={() => void refetch()} />
      ) : home === undefined || (schedule.isPending && schedule.failureCount === 0) ? (
        // The set of boxes depends on both: a late box would move the others.
        <Skeleton lines={8} />
      ) : (
        <div className={styles.boxes}>
          {shown.map((name) => (
            <section key={name} className={styles.box} aria-labelledby={`home-${name}`}>
              <div className={styles.boxHead}>
                <h2 id={`home-${name}`}>{titles[name]}</h2>
                <IconButton label={shell.startPage.hide(titles[name])} isSmall onPress={() => toggle(name)}>
                  <EyeOff />
                </IconButton>
              </div>
              {contentOf[name]()}
            </section>
          ))}
        </div>
      )}
    </div>
  )
}

/** Most buttons for new documents; the menu has all types. */
function NewButtons({ start }: { readonly start: Start }): ReactNode {
  const { shell } = useWords()
  const types = groupTypes(start.types, (one, other) => one.localeCompare(other))
    .flatMap((group) => group.types)
    .filter(({ kind, actions }) => kind === 'collectionType' && actions.includes('create'))
  if (types.length === 0) return null
  const [only] = types
  if (types.length === 1 && only !== undefined)
    return (
      <Link href={addresses.create(only.uid)} className={buttonClass('main')}>
        <Plus size={16} aria-hidden="true" />
        {shell.startPage.create(only.displayName)}
      </Link>
    )
  return (
    <Menu
      label={shell.startPage.start}
      trigger={
        <Button kind="main" icon={<Plus size={16} aria-hidden="true" />}>
          {shell.startPage.start}
        </Button>
      }
    >
      {types.map(({ uid, displayName }) => (
        <MenuItem key={uid} href={addresses.create(uid)}>
          {displayName}
        </MenuItem>
      ))}
    </Menu>
  )
}
