// A port that several processes listen on: before one of them stops, whoever passes connections on to them is asked.

type Ask = () => Promise<void>
let ask: Ask | null = null

/** Sets what a process of several does before it stops listening. */
export function askBeforeLeavingPort(asking: Ask): void {
  ask = asking
}

/** Resolves when this process may stop listening without a connection being lost; in a process that has the port for itself, at once. */
export const leavePort = async (): Promise<void> => ask?.()
