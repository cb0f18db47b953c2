// A row kernel at the level of instructions in use.
#pragma once

#include <cstddef>

#include <bahdanau/kernel/lanes.hpp>

namespace bahdanau::test {

template <class T, class Kernel>
void for_rows(std::size_t rows, const Kernel& kernel) {
  kernel::dispatch(kernel::RowLoop<T, Kernel>{rows, kernel});
}

}  // namespace bahdanau::test
