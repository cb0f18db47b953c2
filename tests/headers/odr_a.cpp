// One of two files that include the whole library: everything in the headers may be defined twice.
#include <cstddef>

#include <bahdanau/bahdanau.hpp>

std::size_t size_in_the_other_file(std::size_t tokens);

int main() { return bahdanau::Vocabulary::numbered(7).size() == size_in_the_other_file(7) ? 0 : 1; }
