// How rows of hypotheses may continue others from one step to the next.
#pragma once

namespace bahdanau {

/// Whether several rows may continue one, as in a beam. It decides how sums are put together, and so their
/// last bits: one search must not do it now this way and now that, as its batch happens to be.
enum class Continuation : bool { one_by_one, branching };

}  // namespace bahdanau
