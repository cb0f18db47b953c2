// What an expression throws, as text: tests compare whole messages, since people read them.
#pragma once

#include <string>

#include <bahdanau/core/error.hpp>

namespace bahdanau::test {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace bahdanau::test
