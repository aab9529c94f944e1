#pragma once
// What a build is told on its command line. Swift's own -D has no values.

#ifndef SCREENRELAY_COMMIT
#define SCREENRELAY_COMMIT
#endif

#define SHIM_TEXT(value) #value
#define SHIM_VALUE_TEXT(name) SHIM_TEXT(name)

/// The commit of -Xcc -DSCREENRELAY_COMMIT=COMMIT, or an empty text.
static inline const char *shim_commit(void) { return SHIM_VALUE_TEXT(SCREENRELAY_COMMIT); }
