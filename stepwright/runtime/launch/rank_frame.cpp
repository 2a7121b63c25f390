#include "stepwright/runtime/launch/rank_frame.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/checkpoint/durable_file.h"
#include "stepwright/core/output_file.h"
#include "stepwright/runtime/launch/train_flags.h"
#include "stepwright/runtime/messages/rendezvous.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::runtime {
namespace {

/// Collects the calls of all ranks on rank 0, which writes the ledger.
void write_ledger(const RankCommunicators& groups, const RankCommunicators::RankWorld& world,
                  const TrainOptions& options) {
  const std::vector<std::string> texts = collect_rank_texts(
      world, "ledger", communicator_calls_json(groups.communicator_call_logs()).dump());
  if (world.rank != 0) return;
  nlohmann::ordered_json all = executed_messages_json({}, world.size, options.steps);
  if (options.hold) all["scale"] = options.scale;
  for (const std::string& text : texts) {
    for (auto& one : nlohmann::ordered_json::parse(text)) all["communicators"].push_back(one);
  }
  write_file(options.ledger, all.dump(1) + '\n');
}

/// Returns as text the options that must be equal on every rank.
std::string common_options(TrainOptions options) {
  for (std::string* own :
       {&options.plan, &options.data, &options.ledger, &options.metrics, &options.weights,
        &options.gradients, &options.logits, &options.memory, &options.summary}) {
    own->clear();
  }
  for (std::string* source : {&options.weights_from, &options.adapters_from}) {
    if (!source->empty()) *source = "given";
  }
  std::string text;
  for (const std::string& word : rank_program_arguments(options)) text += word + "\n";
  return text;
}

}  // namespace

bool is_step_reporting_rank(const plan::Plan& plan, const plan::RankCoordinates& place) {
  return place.pipeline == plan::model_chunk_placement(plan).head_position() && place.tensor == 0 &&
         place.context == 0 && place.data == 0;
}

void check_ranks_agree_on_run(const RankCommunicators::RankWorld& world,
                              const TrainOptions& options, const std::string& program,
                              const std::string& data) {
  const auto compare = [&](const char* what, const std::string& own) {
    const std::vector<std::string> all = exchange_rank_texts(world, what, own);
    for (std::size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all.front()) continue;
      fail_input(
          fmt::format("rank {} has another {} than rank 0 ({}, {})", r, what, all[r], all.front()));
    }
  };
  compare("program of its plan", program);
  compare("set of training options", checkpoint::checksum(common_options(options)));
  compare("data file", data);
}

void finish_run_on_all_ranks(RankCommunicators& groups, const RankCommunicators::RankWorld& world,
                             const TrainOptions& options) {
  if (!options.ledger.empty()) write_ledger(groups, world, options);
  end_rank_watch(world);
}

}  // namespace stepwright::runtime
