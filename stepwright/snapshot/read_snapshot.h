#pragma once

#include <filesystem>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Reads what `torch.cuda.memory._dump_snapshot` writes, of PyTorch 2.1 to 2.13: a pickle, or the
/// same as JSON, also packed with gzip. Events are followed as they come: of a pickle of any size
/// the values that are held take at most 1 GiB, beside the blocks in use and their stacks. Fails
/// with `kInput`, naming file and byte.
Snapshot read_snapshot(logs::ByteSource& source);
Snapshot read_snapshot(const std::filesystem::path& path);

}  // namespace stepwright::snapshot
