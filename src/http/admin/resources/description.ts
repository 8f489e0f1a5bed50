// /openapi.json: the description of the administration API.
import * as z from 'zod'
import { describeResources } from '../openapi.js'
import { answer, type Resource, resource } from '../resource.js'

/** The resource that describes the whole table. */
export const descriptionOf = (all: () => readonly Resource[]): Resource =>
  resource({
    ...{ method: 'GET', path: '/openapi.json', summary: 'Describe the administration API (OpenAPI 3.1)', who: 'administrator' },
    answer: z.looseObject({ openapi: z.string() }),
    handle: async ({ parts }) => answer(describeResources(all(), { url: parts.config.publicUrl, version: parts.backend.version })),
  })
