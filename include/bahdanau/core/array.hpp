// The public array alias: what goes in and comes out of the library is an ordinary xtensor array.
// Besides this file only backend/xtensor.hpp names xtensor.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>)  // xtensor 0.26 and later keep headers in subfolders
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include <cstddef>
#include <memory>

namespace bahdanau {

/// A dense row-major array on the host with `Rank` dimensions.
///
/// It is `xt::xtensor<T, Rank>` as xtensor defines it by default. Spelt out, because macros of xtensor
/// (`XTENSOR_USE_XSIMD`, `XTENSOR_DEFAULT_LAYOUT`, ...) change the defaults: two files of one program that
/// disagree about them still mean the same array.
template <class T, std::size_t Rank>
using Array = xt::xtensor_container<xt::uvector<T, std::allocator<T>>, Rank, xt::layout_type::row_major,
                                    xt::xtensor_expression_tag>;

}  // namespace bahdanau
