#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

// Readers of logs, a file for each format (`read_logs` calls them).

/// Reads a Chakra execution trace (protobuf): nodes of collectives and messages with their
/// `comm_type`, `comm_size` (of the inputs, as the converter of PyTorch writes it) and `pg_name`.
/// The rank is that in the name of the file; sizes of groups are not in it. Fails with `kInput`
/// when a message is cut or no protobuf.
void read_chakra(ByteSource& bytes, Log& log);

/// Reads what DeepSpeed's communication logger prints: verbose lines, or, without them, the last
/// summary table. Sizes are rounded to two digits by the logger, so payloads are about right; of
/// gathers they are one rank's part. Bandwidths, which it computes with the world's size, are not
/// read.
void read_deepspeed_text(ByteSource& bytes, Log& log);

/// Reads `get_raw_data()` or `log_all(return_dict=True)` of the same, written as JSON: exact sizes.
/// Fails with `kInput` when the document is damaged.
void read_deepspeed_raw(ByteSource& bytes, Log& log);

/// Reads the calls of PyTorch's host execution trace (`ExecutionTraceObserver`, schemas 1.0.3 to
/// 1.1.1): nodes `record_param_comms`, else (Gloo) operators `c10d::*` with the group that an
/// enclosing functional operator names. It has no times, and its rank is that in the name of the
/// file. Fails with `kInput` when the document is damaged.
void read_execution_trace(ByteSource& bytes, Log& log);

/// Reads a dump of PyTorch's flight recorder, versions 2.4 to 2.10: a pickle, which is read and
/// never executed, or JSON. A dump does not say whose it is: the rank is that in the name of the
/// file. Fails with `kInput` when the document is damaged.
void read_flight_recorder(ByteSource& bytes, Log& log);

/// Reads what `stepwright train --ledger` wrote: equal calls in a row are one record. Fails with
/// `kInput` when it is no such ledger.
void read_ledger_log(ByteSource& bytes, Log& log);

/// Reads what nccl-tests prints (`read_nccl_tests_text`): each row is one call of all ranks, with
/// the out-of-place time. Fails with `kInput` as that does.
void read_nccl_tests(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
