#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// A step of an algorithm file of MSCCL, as it is written.
struct MscclStep {
  std::string type;
  collective::PieceRun source{};
  collective::PieceRun target{};
  bool has_source = false;  ///< True if the step's source offset is not -1.
  bool has_target = false;
  std::int32_t count = 0;
  collective::StepRef on;  ///< Thread block and step to wait for.
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
  std::vector<std::size_t> pieces;  ///< Numbers of pieces of input, output and scratch.
  std::vector<MscclBlock> blocks;
};

struct MscclFile {
  std::string name;
  std::string protocol;
  std::string collective;
  std::int32_t channels = 0;
  std::int32_t pieces = 0;  ///< Pieces of the full buffer.
  bool in_place = false;
  bool out_of_place = false;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  std::vector<MscclGpu> gpus;
};

/// Reads a file and holds it to the rules of MSCCL's loaders: every attribute is there, ids and
/// steps count from 0, peers and offsets exist, a count is below 72, dependences lead to steps that
/// say so, a nop waits and what follows it waits too, a connection (sender, receiver, channel) has
/// one thread block at each end. Throws `std::runtime_error` with what is broken.
MscclFile read_msccl(const std::string& text);

/// A file without steps that receive and send at once as a schedule, for its proof: thread blocks
/// are channels, channels lanes, dependences waits.
collective::CollectiveSchedule schedule_of(const MscclFile& file,
                                           collective::Collective collective);

}  // namespace stepwright::collective_files
