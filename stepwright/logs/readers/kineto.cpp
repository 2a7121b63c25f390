#include "stepwright/logs/readers/kineto.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/logs/readers/kineto_calls.h"

namespace stepwright::logs {
namespace {

void check_has_events(bool has_events, const ByteSource& bytes) {
  if (has_events) return;
  fail_input(
      fmt::format("{}: has no `traceEvents`; a trace is what export_chrome_trace of "
                  "torch.profiler writes",
                  bytes.name()));
}

}  // namespace

bool is_kineto_trace(ByteSource& bytes) {
  const std::string_view text = bytes.peek_beginning();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

void read_kineto_calls(ByteSource& bytes, Log& log) {
  const auto calls = make_kineto_call_consumer(bytes.name(), log);
  scan_kineto(bytes, {calls.get()});
}

KinetoTrace read_kineto_trace(ByteSource& bytes) {
  KinetoTrace trace{.file = bytes.name()};
  const auto operators = make_kineto_operator_consumer(trace);
  check_has_events(scan_kineto(bytes, {operators.get()}), bytes);
  if (trace.kernels.empty()) {
    fail_input(
        fmt::format("{}: has no kernels; profile with activities=[ProfilerActivity.CPU, "
                    "ProfilerActivity.CUDA], or fit the steps of the host with --plan",
                    trace.file));
  }
  return trace;
}

KinetoTrace read_kineto_host_trace(ByteSource& bytes, Log& log) {
  KinetoTrace trace{.file = bytes.name()};
  const auto operators = make_kineto_operator_consumer(trace);
  const auto calls = make_kineto_call_consumer(bytes.name(), log);
  check_has_events(scan_kineto(bytes, {operators.get(), calls.get()}), bytes);
  return trace;
}

}  // namespace stepwright::logs
