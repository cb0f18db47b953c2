// How a kernel writes what a pointwise functor gives.
// `Store`, `Add`, `AddShared`: what `lanes.map` takes before its inputs.
#pragma once

namespace bahdanau {

/// `Store` replaces, `Add` accumulates, `AddShared` accumulates where several rows of the same launch may
/// meet.
template <class T>
struct Store {
  T* data;
};
template <class T>
struct Add {
  T* data;
};
template <class T>
struct AddShared {
  T* data;
};

}  // namespace bahdanau
