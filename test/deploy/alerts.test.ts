// deploy/prometheus/alerts.yml, evaluated by Prometheus itself on values over time.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.js'
import { deployed } from './composed.js'

const promtool = (...words: readonly string[]) => spawnSync('promtool', words, { encoding: 'utf8' })
const refused = 'octavo_auth_attempts_total{job="octavo",instance="a",kind="local",result="refused"}'

/** Series with a value for each minute, and the minutes after which the alert fires. */
const cases = [
  {
    alert: 'OctavoSignInsRefused',
    title: 'nothing was refused yesterday',
    minutes: 1540,
    isFiring: true,
    series: { [refused]: '_x1500 0+60x60' },
  },
  {
    alert: 'OctavoSignInsRefused',
    title: 'as many were refused yesterday',
    minutes: 1540,
    isFiring: false,
    series: { [refused]: '0+60x1600' },
  },
  {
    ...{ alert: 'OctavoModelsDiffer', title: 'processes of one command differ', minutes: 20, isFiring: true },
    series: { 'octavo_schema_version{job="octavo",process="1"}': '2x30', 'octavo_schema_version{job="octavo",process="2"}': '1x30' },
  },
  {
    ...{ alert: 'OctavoModelsDiffer', title: 'all are the same', minutes: 20, isFiring: false },
    series: { 'octavo_schema_version{job="octavo",process="1"}': '2x30', 'octavo_schema_version{job="octavo",process="2"}': '2x30' },
  },
  {
    ...{ alert: 'OctavoNotReady', title: 'a start does not come to its end', minutes: 10, isFiring: true },
    series: { 'octavo_ready{job="octavo"}': '0x30' },
  },
  {
    ...{ alert: 'OctavoReplicaLate', title: 'a replica is left alone', minutes: 20, isFiring: true },
    series: { 'octavo_replica_lag_seconds{job="octavo",replica="0"}': '0+60x30' },
  },
] as const

describeWith(['Prometheus'], 'alerts', () => {
  test.each(cases)('running.1: $alert where $title', ({ alert, minutes, isFiring, series }) => {
    const folder = mkdtempSync(join(tmpdir(), 'octavo-alerts-'))
    const values = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, given]) => ({ series: name, values: given })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: `${minutes}m`,
          exp_samples: [{ labels: '{}', value: isFiring ? 1 : 0 }],
        },
      ],
    }
    // JSON is YAML.
    const file = join(folder, 'alerts.test.yml')
    writeFileSync(file, JSON.stringify({ rule_files: [deployed('prometheus', 'alerts.yml')], evaluation_interval: '1m', tests: [values] }))
    const { status, stdout, stderr } = promtool('test', 'rules', file)
    rmSync(folder, { recursive: true })
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')])
  })
})
