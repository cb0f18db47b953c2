// xsimd, without the warnings that g++ 12 gives for its own AVX-512 intrinsics: it takes their deliberately
// undefined registers for uninitialised variables.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <xsimd/xsimd.hpp>
#pragma GCC diagnostic pop
#else
#include <xsimd/xsimd.hpp>
#endif

namespace bahdanau::detail {

/// Stands for code without vectors. nvcc compiles our functors for the device whoever calls them, and has no
/// vectors there: in its files the CPU backend goes without.
struct NoVectors {};
#ifdef __CUDACC__
using DefaultInstructionSet = NoVectors;
#else
using DefaultInstructionSet = xsimd::default_arch;
#endif

}  // namespace bahdanau::detail
