// Messages between a service and the process that examines its project.
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import type { DoctorReport } from './examine.js'

/** The settings that an examination depends on. */
export type DoctorSettings = Pick<Config, 'database' | 'uploadsFolder' | 'limits'>

export interface ToDoctorProcess {
  readonly settings: DoctorSettings
  readonly model: Model
}

export type FromDoctorProcess = { readonly report: DoctorReport } | { readonly failure: string }
