// The other of two files that include the whole library.
#include <cstddef>

#include <bahdanau/bahdanau.hpp>

std::size_t size_in_the_other_file(std::size_t tokens);

std::size_t size_in_the_other_file(std::size_t tokens) {
  return bahdanau::Vocabulary::numbered(tokens).size();
}
