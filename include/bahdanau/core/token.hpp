// A token's number, and the four numbers that every vocabulary keeps for the model itself.
// Plain ids need no text: batches, losses and decoders include this file alone.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bahdanau {

/// A token's place in its vocabulary.
using Token = std::int32_t;

/// The first four ids of every vocabulary, in d2l's order.
namespace reserved {

inline constexpr Token unk = 0;
inline constexpr Token pad = 1;
inline constexpr Token bos = 2;
inline constexpr Token eos = 3;

/// Their spellings; the index is the id.
inline constexpr std::array<std::string_view, 4> names = {"<unk>", "<pad>", "<bos>", "<eos>"};

}  // namespace reserved
}  // namespace bahdanau
