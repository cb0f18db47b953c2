#include <bahdanau/bahdanau.hpp>

#include "property/training_property.hpp"

TEST_CASE("Lstm: a batch's gradient is the sum over its rows, and threads change no bit",
          "[property][gradient][threads][bits]") {
  bahdanau::test::try_models_with<bahdanau::Lstm>("Lstm models", 0.4);
}
