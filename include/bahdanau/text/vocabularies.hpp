// What turns sentences into ids on both sides of a model: two vocabularies and the way the text was cut.
// A corpus makes one, a model keeps it, and the model file carries it.
#pragma once

#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau {

/// The vocabularies of the source and the target language, and how their text becomes tokens.
struct Vocabularies {
  Vocabulary source;
  Vocabulary target;
  TextOptions text;

  bool operator==(const Vocabularies&) const = default;
};

}  // namespace bahdanau
