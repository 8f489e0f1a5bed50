// The keyboard of this computer.

/** True on Apple's computers, whose keyboards have Cmd. */
export const hasCommandKey = /Mac|iP(?:hone|ad)/.test(navigator.platform)
