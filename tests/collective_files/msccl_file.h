#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// A step in an MSCCL algorithm file, with its attributes as written.
struct MscclStep {
  std::string type;
  collective::PieceRunStart source{};
  collective::PieceRunStart target{};
  bool has_source = false;  ///< True if the step's source offset is not -1.
  bool has_target = false;
  std::int32_t count = 0;
  collective::CollectiveStepReference on;  ///< Thread block and step for which it waits.
  bool awaited = false;

  [[nodiscard]] bool sends() const { return type == "s" || type.ends_with('s'); }
  [[nodiscard]] bool receives() const { return type.starts_with('r') && type != "re"; }
};

struct MscclBlock {
  std::int32_t send = -1;
  std::int32_t receive = -1;
  std::int32_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::vector<std::size_t> pieces;  ///< Numbers of pieces in input, output and scratch buffer.
  std::vector<MscclBlock> blocks;
};

struct MscclFile {
  std::string name;
  std::string protocol;
  std::string collective;
  std::int32_t channels = 0;
  std::int32_t pieces = 0;  ///< Number of pieces in the full buffer.
  bool in_place = false;
  bool out_of_place = false;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  std::vector<MscclGpu> gpus;
};

/// Reads a file and checks the rules of MSCCL's loaders: every attribute is present, ids and steps
/// count from 0, peers and offsets exist, a count is below 72, dependences lead to steps that are
/// marked as such, a nop waits and the step after it waits too, and a connection (sender, receiver,
/// channel) has one thread block at each end. Throws `std::runtime_error` naming the broken rule.
MscclFile read_msccl(const std::string& text);

/// Converts a file without combined receive-and-send steps into a schedule, so that it can be
/// proved: thread blocks become channels, channels become lanes, dependences become waits.
collective::CollectiveSchedule schedule_of(const MscclFile& file,
                                           collective::CollectiveOperation collective);

}  // namespace stepwright::collective_files
