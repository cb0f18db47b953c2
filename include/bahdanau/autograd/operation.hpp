// What an operation says when it is recorded: its name, and which arrays it reads and makes.
// `Tape::record` takes it together with the adjoint.
#pragma once

#include <initializer_list>
#include <string_view>

#include <bahdanau/autograd/variable.hpp>

namespace bahdanau {

/// Whether a result is its maker's to keep, or given to its one reader, who may write over it and whose
/// adjoint stores the gradient in its place. The maker's own adjoint must not need its value.
enum class Result : bool { kept, given, fresh [[deprecated("write Result::kept")]] = kept };

/// What an operation tells the tape of itself.
template <Backend B>
struct Operation {
  /// A variable that is there anyway.
  struct Named {
    Named(const Variable<B>& v) : variable(&v) {}
    const Variable<B>& operator*() const { return *variable; }
    const Variable<B>* variable;
  };
  using List = std::initializer_list<Named>;

  std::string_view name;  // as it stands in messages
  List arguments{};       // to whose gradients the adjoint adds
  List results{};         // whose gradients it reads
  List values{};          // whose values it reads
};

}  // namespace bahdanau
