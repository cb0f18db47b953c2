// The public array alias: what goes in and comes out of the library is an ordinary xtensor array.
// Besides this file only backend/xtensor.hpp names xtensor.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>)  // xtensor 0.26 and later keep headers in subfolders
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include <cstddef>

namespace bahdanau {

/// A dense row-major array on the host with `Rank` dimensions.
template <class T, std::size_t Rank>
using Array = xt::xtensor<T, Rank>;

}  // namespace bahdanau
