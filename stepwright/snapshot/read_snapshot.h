#pragma once

#include <filesystem>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Reads a memory snapshot of PyTorch 2.1 to 2.13 (`torch.cuda.memory._dump_snapshot`): a pickle or
/// JSON, possibly gzipped. Events are processed while reading, so that large files need at most
/// about 1 GiB besides the blocks in use. Fails with `kInput`, naming file and byte.
AllocatorSnapshot read_allocator_snapshot(logs::FileByteReader& source);
AllocatorSnapshot read_allocator_snapshot(const std::filesystem::path& path);

}  // namespace stepwright::snapshot
