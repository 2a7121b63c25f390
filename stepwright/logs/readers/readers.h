#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

// Readers of logs, a file for each format (`read_logs` calls them).

/// Reads a Chakra execution trace (protobuf): nodes of collectives and messages with their
/// `comm_type`, `comm_size` (of the inputs, as PyTorch's converter writes it) and `pg_name`. The
/// rank is taken from the file's name; the trace has no group sizes. Fails with `kInput` if a
/// message of the file is cut short or no protobuf.
void read_chakra(FileByteReader& bytes, CommunicationLog& log);

/// Reads what DeepSpeed's communication logger prints: verbose lines or, without them, the last
/// summary table. The logger rounds sizes to two digits, so payloads are approximate; for gathers
/// it logs one rank's shard. Bandwidths are not read, because the logger computes them with the
/// size of the job instead of the group.
void read_deepspeed_text(FileByteReader& bytes, CommunicationLog& log);

/// Reads the output of `get_raw_data()` or `log_all(return_dict=True)` of DeepSpeed's communication
/// logger, written as JSON; its sizes are exact. Fails with `kInput` if the document is damaged.
void read_deepspeed_raw(FileByteReader& bytes, CommunicationLog& log);

/// Reads the calls of PyTorch's host execution trace (`ExecutionTraceObserver`, schemas 1.0.3 to
/// 1.1.1): nodes `record_param_comms`, else (Gloo) operators `c10d::*` with the group that an
/// enclosing functional operator names. The trace has no times; the rank is taken from the file's
/// name. Fails with `kInput` if the document is damaged.
void read_execution_trace(FileByteReader& bytes, CommunicationLog& log);

/// Reads a dump of PyTorch's flight recorder, versions 2.4 to 2.10: a pickle, which is parsed and
/// never executed, or JSON. A dump does not state its rank; it is taken from the file's name. Fails
/// with `kInput` if the document is damaged.
void read_flight_recorder(FileByteReader& bytes, CommunicationLog& log);

/// Reads a ledger that `stepwright train --ledger` wrote; consecutive equal calls become one record
/// with a count. Fails with `kInput` if the file is no such ledger.
void read_ledger_log(FileByteReader& bytes, CommunicationLog& log);

/// Reads what nccl-tests prints (`read_nccl_tests_text`): each row is one call of all ranks, with
/// the out-of-place time. Fails with `kInput` as `read_nccl_tests_text`.
void read_nccl_tests(FileByteReader& bytes, CommunicationLog& log);

}  // namespace stepwright::logs
