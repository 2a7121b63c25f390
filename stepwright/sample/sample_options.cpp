#include "stepwright/sample/sample_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/runtime/launch/number_option.h"
#include "stepwright/sample/asked_message.h"

namespace stepwright::sample {
namespace {

constexpr std::int64_t kMostRanks = 4096;  // Processes on one machine.
constexpr double kMostScale = 1e9;
constexpr std::int64_t kLeastLargest = 65'536;
constexpr std::int64_t kMostLargest = std::int64_t{1} << 50;

}  // namespace

void add_sample_command_options(CLI::App& app, SampleCommandOptions& o) {
  app.add_option("WHAT", o.kind, "operators, collectives or overlap")->required();
  app.add_option("-o,--output", o.output, "Table of samples to write, for `stepwright fit`")
      ->required()
      ->type_name("SAMPLES");
  app.add_option("--ranks", o.ranks, "Processes that measure at the same time on this machine")
      ->check(runtime::whole_number_validator(1, kMostRanks))
      ->type_name("N");
  app.add_option("--scale", o.scale,
                 "The --scale of train --hold in the runs for which collectives are\nsampled")
      ->check(runtime::number_range_validator({.low = 1, .high = kMostScale}))
      ->type_name("S");
  app.add_option("--pace", o.pace,
                 "The --pace of train in the runs for which operators are sampled")
      ->check(runtime::number_range_validator({.low = 1, .high = kMostScale}))
      ->type_name("P");
  app.add_flag("--world", o.world_only, "Only collectives of all ranks, not of smaller groups");
  app.add_option("--largest", o.most_bytes,
                 "Measure only all-reduce, all-gather and reduce-scatter, from 64 KB to so many "
                 "bytes; by default all operations, until a message takes long")
      ->check(runtime::whole_number_validator(kLeastLargest, kMostLargest))
      ->type_name("BYTES");
  app.add_option("--message", o.messages,
                 "Only this collective, LIBRARY:OPERATION:NODESxRANKS:BYTES with ranks of a node "
                 "and bytes of the full buffer; may be given several times")
      ->type_name("MESSAGE");
  app.add_option("--dtype", o.dtype, "Type of operators: fp32, bf16 or fp64")->type_name("TYPE");
  app.add_option("--timeout", o.timeout_s, "Seconds to wait for another rank")
      ->check(runtime::number_range_validator({.low = 1, .high = runtime::kMaxTimeoutSeconds}))
      ->type_name("S");
}

void check_sample_options(const SampleCommandOptions& o) {
  const auto need = [](bool holds, std::string_view option, std::string_view rule) {
    if (!holds) fail_input(fmt::format("{}: {}", option, rule));
  };
  const bool known =
      std::ranges::any_of(kSampleKindNames, [&](const auto& kind) { return kind.name == o.kind; });
  need(known, "WHAT", fmt::format("'{}' must be one of operators, collectives, overlap", o.kind));
  need(!o.output.empty(), "--output", "a file to write is required");
  need(o.scale == 1 || o.kind == "collectives", "--scale", "is only for collectives");
  need(o.pace == 1 || o.kind == "operators", "--pace", "is only for operators");
  const bool messages = o.kind == "collectives";
  need(!o.world_only || messages, "--world", "is only for collectives");
  need(o.most_bytes == 0 || messages, "--largest", "is only for collectives");
  need(o.messages.empty() || messages, "--message", "is only for collectives");
  need(o.messages.empty() || (!o.world_only && o.most_bytes == 0), "--message",
       "cannot be given together with --world and --largest");
  for (const std::string& message : o.messages) parse_message_option(message);
  const bool executed = o.dtype == "fp32" || o.dtype == "bf16" || o.dtype == "fp64";
  need(o.dtype == SampleCommandOptions().dtype || o.kind == "operators", "--dtype",
       "is only for operators");
  need(executed, "--dtype", fmt::format("'{}' must be one of fp32, bf16, fp64", o.dtype));
}

std::vector<std::string> sample_rank_arguments(const SampleCommandOptions& o) {
  std::vector<std::string> words = {"sample",    o.kind,
                                    "--output",  o.output,
                                    "--scale",   fmt::format("{}", o.scale),
                                    "--pace",    fmt::format("{}", o.pace),
                                    "--dtype",   o.dtype,
                                    "--timeout", fmt::format("{}", o.timeout_s)};
  if (o.most_bytes > 0) words.insert(words.end(), {"--largest", fmt::format("{}", o.most_bytes)});
  if (o.world_only) words.emplace_back("--world");
  for (const std::string& message : o.messages) words.insert(words.end(), {"--message", message});
  return words;
}

}  // namespace stepwright::sample
