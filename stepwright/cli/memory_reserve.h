#pragma once

#include "stepwright/answers/memory_reserve.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options `--memory-confidence` and `--memory-reserve`, which decide when a plan counts as
/// fitting in memory.
class MemoryHeadroom {
 public:
  explicit MemoryHeadroom(CLI::App& command);

  [[nodiscard]] const answers::MemoryHeadroom& given() const { return given_; }

 private:
  answers::MemoryHeadroom given_;
};

}  // namespace stepwright::cli
