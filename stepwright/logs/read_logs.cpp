#include "stepwright/logs/read_logs.h"

#include <vector>

#include "stepwright/logs/format.h"
#include "stepwright/logs/readers/chakra.h"
#include "stepwright/logs/readers/deepspeed.h"
#include "stepwright/logs/readers/execution_trace.h"
#include "stepwright/logs/readers/flight_recorder.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/logs/readers/ledger_log.h"
#include "stepwright/logs/readers/nccl_plugin.h"
#include "stepwright/logs/readers/nccl_tests.h"
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
  NcclProfilerReader profiler(log);
  for (ByteSource& bytes : files) {
    switch (recognise_log(bytes)) {
      case LogFormat::kNcclText: nccl.read(bytes); break;
      case LogFormat::kKineto: read_kineto(bytes, log); break;
      case LogFormat::kFlightRecorder: read_flight_recorder(bytes, log); break;
      case LogFormat::kLedger: read_ledger_log(bytes, log); break;
      case LogFormat::kExecutionTrace: read_execution_trace(bytes, log); break;
      case LogFormat::kChakra: read_chakra(bytes, log); break;
      case LogFormat::kDeepSpeed: read_deepspeed_text(bytes, log); break;
      case LogFormat::kDeepSpeedRaw: read_deepspeed_raw(bytes, log); break;
      case LogFormat::kNcclProfiler: profiler.read(bytes); break;
      case LogFormat::kNcclInspector: read_nccl_inspector(bytes, log); break;
      case LogFormat::kNcclTests: read_nccl_tests(bytes, log); break;
    }
  }
  nccl.finish();
  profiler.finish();
  return log;
}

}  // namespace stepwright
