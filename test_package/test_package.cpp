// A consumer of the installed package.
#include <iostream>

#include <bahdanau/bahdanau.hpp>

int main() {
  const auto vocabulary = bahdanau::Vocabulary::numbered(10);
  std::cout << "a vocabulary of " << vocabulary.size() << " tokens\n";
  return vocabulary.size() == 10 ? 0 : 1;
}
