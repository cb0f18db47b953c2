// Whether a matrix enters a product as it is stored or transposed.
// It is here and not beside the backends, as the kernels below them take it too.
#pragma once

namespace bahdanau {

enum class Transpose : bool { no, yes };

}  // namespace bahdanau
