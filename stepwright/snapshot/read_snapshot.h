#pragma once

#include <filesystem>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Reads a file of `torch.cuda.memory._dump_snapshot` of PyTorch 2.1 to 2.13: a pickle, or the same
/// data as JSON, also compressed with gzip. Events are processed as they are read: for a pickle of
/// any size the values held take at most 1 GiB, in addition to the blocks in use and their stacks.
/// Fails with `kInput`, naming file and byte.
Snapshot read_snapshot(logs::ByteSource& source);
Snapshot read_snapshot(const std::filesystem::path& path);

}  // namespace stepwright::snapshot
