#include "stepwright/logs/read_logs.h"

#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/logs/format.h"
#include "stepwright/logs/readers/flight_recorder.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/logs/readers/ledger_log.h"
#include "stepwright/logs/readers/nccl_text.h"

namespace stepwright {

Log read_logs(std::span<const std::string> files) {
  std::vector<ByteSource> opened;
  for (const std::string& file : files) opened.emplace_back(std::filesystem::path(file));
  return read_logs(opened);
}

Log read_logs(std::span<ByteSource> files) {
  Log log;
  NcclTextReader nccl(log);
  for (ByteSource& bytes : files) {
    switch (recognise_log(bytes)) {
      case LogFormat::kNcclText: nccl.read(bytes); break;
      case LogFormat::kKineto: read_kineto(bytes, log); break;
      case LogFormat::kFlightRecorder: read_flight_recorder(bytes, log); break;
      case LogFormat::kLedger: read_ledger_log(bytes, log); break;
      default: fail_unsupported(bytes.name() + ": this format is not read yet");
    }
  }
  nccl.finish();
  return log;
}

}  // namespace stepwright
