// Every level of instructions that this machine and this build have, one after the other.
#pragma once

#include <vector>

#include <bahdanau/kernel/instructions.hpp>

namespace bahdanau::test {

inline std::vector<Instructions> levels() {
  std::vector<Instructions> out;
  for (int level = static_cast<int>(kernel::detail::own_instructions);
       level <= static_cast<int>(supported_instructions()); ++level)
    out.push_back(static_cast<Instructions>(level));
  return out;
}

/// Takes a level, and puts back the one before it.
class AtLevel {
 public:
  explicit AtLevel(Instructions level) { use_instructions(level); }
  ~AtLevel() { use_instructions(before_); }
  AtLevel(const AtLevel&) = delete;
  AtLevel& operator=(const AtLevel&) = delete;

 private:
  Instructions before_ = instructions();
};

}  // namespace bahdanau::test
