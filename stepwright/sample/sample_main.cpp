#include "stepwright/sample/sample_main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>

#include "stepwright/core/error.h"
#include "stepwright/core/output_file.h"
#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/launch/rank_world.h"
#include "stepwright/runtime/messages/rendezvous.h"
#include "stepwright/sample/asked_message.h"
#include "stepwright/sample/message_sampler.h"
#include "stepwright/sample/operator_sampler.h"
#include "stepwright/sample/overlap_sampler.h"
#include "stepwright/sample/sample_options.h"

namespace stepwright::sample {
namespace {

/// Returns the number of nodes as the launcher counts them; one node if no launcher does.
WorldShape shape_of(const runtime::RankCommunicators::RankWorld& world) {
  const char* nodes = std::getenv("GROUP_WORLD_SIZE");
  const std::int64_t count = nodes == nullptr ? 1 : std::strtoll(nodes, nullptr, 10);
  if (count < 1 || world.size % count != 0) {
    fail_input(fmt::format("GROUP_WORLD_SIZE: {} nodes do not share {} ranks evenly",
                           nodes == nullptr ? "" : nodes, world.size));
  }
  return {.nodes = count, .ranks_of_node = world.size / count};
}

DType type_of(std::string_view word) {
  for (const auto& type : kDTypeNames) {
    if (type.name == word) return type.value;
  }
  return DType::kFp32;
}

/// Writes the rows and returns the header that belongs to them.
std::string_view measure(const runtime::RankCommunicators::RankWorld& world,
                         const SampleCommandOptions& options, std::ostream& rows) {
  if (options.kind == "operators") {
    measure_operators(world, type_of(options.dtype), options.pace, rows);
    return cost::kComputationSampleCsvHeader;
  }
  if (world.size < 2) fail_input("--ranks: messages need at least 2");
  if (options.kind == "overlap") {
    measure_overlap_slowdown(world, shape_of(world), rows);
    return cost::kOverlapSampleCsvHeader;
  }
  MessageSamplingSettings sampling{.scale = options.scale,
                                   .world_only = options.world_only,
                                   .most_bytes = options.most_bytes,
                                   .asked = {}};
  for (const std::string& word : options.messages)
    sampling.asked.push_back(parse_message_option(word));
  measure_messages(world, shape_of(world), sampling, rows);
  return cost::kMessageSampleCsvHeader;
}

void run(const SampleCommandOptions& options) {
  check_sample_options(options);
  const runtime::LaunchedRank place =
      runtime::rank_from_launcher_environment().value_or(runtime::LaunchedRank{});
  const runtime::RankWorldConnection joined(place, options.timeout_s);
  const runtime::RankCommunicators::RankWorld& world = joined.ranks_of_run();
  std::ostringstream rows;
  std::string_view header;
  runtime::tell_failure(world.watch, [&] {
    header = measure(world, options, rows);
    runtime::end_rank_watch(world);
  });
  if (world.rank != 0) return;
  write_file(options.output, fmt::format("{}\n{}", header, rows.str()));
}

}  // namespace

int measuring_process_main(int argc, char** argv) {
  CLI::App app("One of the processes that measure; `stepwright sample` starts it.",
               "stepwright-rank sample");
  SampleCommandOptions options;
  add_sample_command_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return runtime::run_as_rank([&] { run(options); });
}

}  // namespace stepwright::sample
