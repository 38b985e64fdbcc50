/** How to mend a path with `~`: the one rule for it. */
export const TILDE_HELP = "write ${HOME}/… instead";
