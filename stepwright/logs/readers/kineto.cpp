#include "stepwright/logs/readers/kineto.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/logs/readers/kineto_calls.h"

namespace stepwright::logs {
namespace {

void check_has_events(bool has_events, const FileByteReader& bytes) {
  if (has_events) return;
  fail_input(
      fmt::format("{}: has no `traceEvents`; a trace is what export_chrome_trace of "
                  "torch.profiler writes",
                  bytes.name()));
}

}  // namespace

bool is_kineto_trace(FileByteReader& bytes) {
  const std::string_view text = bytes.peek_first_bytes();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

void read_kineto_calls(FileByteReader& bytes, CommunicationLog& log) {
  const auto calls = make_kineto_call_consumer(bytes.name(), log);
  stream_kineto_trace_events(bytes, {calls.get()});
}

KinetoTrace read_kineto_trace(FileByteReader& bytes) {
  KinetoTrace trace{.file = bytes.name()};
  const auto operators = make_kineto_operator_consumer(trace);
  check_has_events(stream_kineto_trace_events(bytes, {operators.get()}), bytes);
  if (trace.kernels.empty()) {
    fail_input(
        fmt::format("{}: has no kernels; profile with activities=[ProfilerActivity.CPU, "
                    "ProfilerActivity.CUDA], or fit the steps of the host with --plan",
                    trace.file));
  }
  return trace;
}

KinetoTrace read_kineto_host_trace(FileByteReader& bytes, CommunicationLog& log) {
  KinetoTrace trace{.file = bytes.name()};
  const auto operators = make_kineto_operator_consumer(trace);
  const auto calls = make_kineto_call_consumer(bytes.name(), log);
  check_has_events(stream_kineto_trace_events(bytes, {operators.get(), calls.get()}), bytes);
  return trace;
}

}  // namespace stepwright::logs
