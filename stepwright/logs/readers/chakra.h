#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads a Chakra execution trace (protobuf): nodes of collectives and messages with their
/// `comm_type`, `comm_size` (of the inputs, as the converter of PyTorch writes it) and `pg_name`.
/// The rank is that in the name of the file; sizes of groups are not in it. Fails with `kInput`
/// when a message is cut or no protobuf.
void read_chakra(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
