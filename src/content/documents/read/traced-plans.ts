// Plans whose lookup is a span of the request that needs them.
import type { Tracing } from '../../../foundation/runtime/tracing.js'
import type { Plans } from './plans.js'

/** The same plans, traced: reading the query, and compiling it where that was not done before. */
export const tracedPlans = (plans: Plans, tracing: Tracing): Plans => ({
  ...plans,
  forRequest: (request, around) =>
    tracing.part(
      'plan',
      () => ({ 'octavo.type': request.type.uid }),
      () => plans.forRequest(request, around),
    ),
  forQueryString: (text, read, around) =>
    tracing.part(
      'plan',
      () => ({}),
      () => plans.forQueryString(text, read, around),
    ),
})
