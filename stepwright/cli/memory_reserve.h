#pragma once

#include "stepwright/answers/memory_reserve.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options `--memory-confidence` and `--memory-reserve`, for commands that tell whether a plan
/// fits.
class MemoryReserve {
 public:
  explicit MemoryReserve(CLI::App& command);

  [[nodiscard]] const answers::MemoryReserve& given() const { return given_; }

 private:
  answers::MemoryReserve given_;
};

}  // namespace stepwright::cli
