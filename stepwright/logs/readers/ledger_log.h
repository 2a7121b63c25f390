#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads what `stepwright train --ledger` wrote: equal calls in a row are one record. Fails with
/// `kInput` when it is no such ledger.
void read_ledger_log(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
