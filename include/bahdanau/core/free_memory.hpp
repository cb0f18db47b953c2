// Memory that was freed, given back to the system.
// The C library keeps it where it is small or lies between other pieces; after a first pass that is a lot.
#pragma once

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bahdanau::detail {

/// Does nothing where the C library has no call for it.
inline void return_free_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace bahdanau::detail
