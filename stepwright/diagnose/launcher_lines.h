#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A rank that ended, in the words of a launcher.
struct LaunchedEnd {
  std::int64_t rank = logs::kUnknown;
  bool local = false;         ///< True if `rank` is that of torchrun on its node.
  bool unresponsive = false;  ///< True if torchrun asked it to end and had to kill it.
  std::string what;           ///< "signal 9 (SIGKILL)"; empty: the line only names the rank.
};

/// Reads lines of torchrun, srun and mpirun about ranks that ended.
class LauncherLines {
 public:
  /// nullopt: the line is none of these.
  std::optional<LaunchedEnd> read(std::string_view line);

 private:
  std::optional<LaunchedEnd> read_block(std::string_view line);

  std::int64_t block_rank_ = logs::kUnknown;  ///< Rank of torchrun's current block.
  bool root_cause_ = false;                   ///< True behind the mark of its last block.
};

}  // namespace stepwright::diagnose
