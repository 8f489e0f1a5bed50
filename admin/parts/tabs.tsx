// Tabs: one of several contents is shown.
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'
import styles from './tabs.module.css'

/** One tab and its content. */
export interface TabItem {
  readonly id: string
  readonly label: ReactNode
  /** A number of errors or things inside, with its words for screen readers in the label. */
  readonly badge?: ReactNode
  readonly content: ReactNode
}

/** Tabs with their contents. */
export interface TabsProps {
  readonly label: string
  readonly items: readonly TabItem[]
  readonly value: string
  readonly onChange: (id: string) => void
}

/** Tabs; only the chosen content is drawn. */
export function Tabs({ label, items, value, onChange }: TabsProps) {
  return (
    <AriaTabs className={styles.tabs} selectedKey={value} onSelectionChange={(key) => onChange(String(key))}>
      <TabList aria-label={label} className={styles.list}>
        {items.map((item) => (
          <Tab key={item.id} id={item.id} className={styles.tab}>
            {item.label}
            {item.badge !== undefined && <span className={styles.badge}>{item.badge}</span>}
          </Tab>
        ))}
      </TabList>
      {items.map((item) => (
        <TabPanel key={item.id} id={item.id} className={styles.panel}>
          {item.content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
