// Whether a matrix enters a product as it is stored or transposed.
#pragma once

namespace bahdanau {

enum class Transpose : bool { no, yes };

}  // namespace bahdanau
