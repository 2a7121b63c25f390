#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/answers/plan_names.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/named.h"
#include "stepwright/core/table.h"
#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/layer_strands.h"
#include "stepwright/interleave/pair_memory.h"
#include "stepwright/interleave/timeline_text.h"
#include "stepwright/model/architecture.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr double kMostPairBytes = 1e18;

/// How the time of a collective and computations that run together is computed.
enum class PairCost : std::uint8_t { kMax, kContention };
constexpr Named<PairCost> kPairCostNames[] = {{PairCost::kMax, "max"},
                                              {PairCost::kContention, "contention"}};

std::string joined(const std::vector<std::string>& ids) {
  return fmt::format("{}", fmt::join(ids, " "));
}

/// Lists the operators behind the ids, forward and backward beside each other.
std::string operators_text(const interleave::ForwardBackwardOperators& pair) {
  TextTable table{.columns = {{"id"},
                              {"forward"},
                              {"time", ColumnAlignment::kRight},
                              {"id"},
                              {"backward"},
                              {"time", ColumnAlignment::kRight}},
                  .rows = {}};
  const auto add = [](std::vector<std::string>& row, const interleave::Strand& strand,
                      std::size_t i) {
    const bool there = i < strand.size();
    row.push_back(there ? strand[i].id : "");
    row.push_back(there ? strand[i].what : "");
    row.push_back(there ? format_time(strand[i].seconds) : "");
  };
  for (std::size_t i = 0; i < std::max(pair.forward.size(), pair.backward.size()); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back();
    add(row, pair.forward, i);
    add(row, pair.backward, i);
  }
  return format_text_table(table);
}

std::string blocks_text(const interleave::LayerInterleaving& interleaving) {
  TextTable table{.columns = {{"#", ColumnAlignment::kRight},
                              {"forward"},
                              {"backward"},
                              {"communication"},
                              {"time", ColumnAlignment::kRight},
                              {"exposed", ColumnAlignment::kRight}},
                  .rows = {}};
  for (std::size_t i = 0; i < interleaving.blocks.size(); ++i) {
    const interleave::InterleavedBlock& block = interleaving.blocks[i];
    table.rows.push_back({fmt::format("{}", i + 1), joined(block.forward), joined(block.backward),
                          joined(block.communication), format_time(block.seconds),
                          format_time(block.seconds - block.compute_s)});
  }
  return format_text_table(table);
}

std::string interleaving_text(const interleave::ForwardBackwardOperators& pair,
                              const interleave::LayerInterleaving& found,
                              const std::string& timeline) {
  const auto share = [&](double seconds) {
    return fmt::format("{} ({})", format_time(seconds), format_percent(seconds / found.serial_s));
  };
  return fmt::format(
      "A forward of one micro-batch together with a backward of another, in one layer\n\n{}\n"
      "Operators that run together, block by block\n\n{}\n{}\n"
      "one operator after the other       {}\n"
      "reductions beside weight gradients {}\n"
      "interleaved, with barriers         {}, of that {} of messages exposed\n"
      "interleaved, with events           {}\n"
      "lower bound                        {}\n"
      "The pair needs {} beyond the memory in use before it; one operator after the other needs "
      "{}.\n"
      "The forward's list starts at {}; operators of the next layer have a prime (').\n",
      operators_text(pair), blocks_text(found), timeline, format_time(found.serial_s),
      share(found.serial_own_overlap_s), share(found.interleaved_s), format_time(found.exposed_s),
      share(found.event_s), share(found.lower_bound_s), format_bytes(found.peak_extra_bytes),
      format_bytes(found.serial_extra_bytes), found.starts_at);
}

class InterleaveCommand : public Subcommand {
 public:
  explicit InterleaveCommand(CLI::App& program)
      : Subcommand(program, "interleave",
                   "Interleave the forward of a layer with a backward, operator by operator",
                   "  stepwright interleave plan.yaml\n"
                   "  stepwright interleave plan.yaml --times times.json --json") {
    reads(app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it"),
          OptionInputKind::kDocument)
        ->required();
    reads(app().add_option(
              "--times", times_,
              "Measured seconds of the operators, in place of the priced ones: JSON with "
              "`forward`, `backward` and `pair` (`docs/formats.md`)"))
        ->type_name("FILE");
    app()
        .add_option("--memory-limit", memory_limit_bytes_,
                    "Most bytes that the pair may need in addition to those in use before it")
        ->check(runtime::number_range_validator({.low = 0, .high = kMostPairBytes}))
        ->type_name("BYTES");
    app()
        .add_option("--layer", layer_, "Layer of a model whose layers differ, from 0")
        ->check(runtime::whole_number_validator(0, model::kMaxModelLayers - 1));
    app().add_flag("--no-rotation", no_rotation_,
                   "Do not let the forward list start at another operator than its first");
  }

  void run_subcommand(const Console& console) override {
    const plan::PlannedJob planned = load_settled_plan(plan_, console);
    const cost::CostModel cost(planned.job);
    interleave::LayerOperatorLists strands =
        interleave::layer_operator_lists(planned.job, planned.plan, cost, layer_);
    interleave::ForwardBackwardOperators& pair = strands.pair;
    const double imbalance =
        plan::busiest_expert_rank_load(planned.job, planned.plan.parallel.expert);
    interleave::InterleaveOptions options{
        .contention = cost.contention(),
        .rotate = !no_rotation_,
        .extra_bytes = [&](const std::vector<interleave::InterleavedBlock>& blocks) {
          return interleave::interleaved_pair_peak_bytes(strands, blocks, imbalance);
        }};
    if (app().count("--memory-limit") > 0) options.memory_limit_bytes = memory_limit_bytes_;
    if (!times_.empty()) {
      const YamlJsonDocument times = YamlJsonDocument::load(times_);
      interleave::read_user_operator_times(times.root(), pair);
      const auto kind = times.root().find("pair");
      if (kind && kind->choice(kPairCostNames) == PairCost::kMax) options.contention = {};
    }
    const interleave::LayerInterleaving found =
        interleave::interleave_layer_forward_and_backward(pair, options);
    if (report_.wanted()) {
      report_.write_report_page(
          console, plan::job_summary_line(planned.job), interleave::interleaving_json(pair, found),
          {{"name", answers::plan_code_and_words_json(planned.plan, planned.job)},
           {"layer", layer_}});
    }
    if (wants_json_output()) {
      print_json(console.out, interleave::interleaving_json(pair, found));
    } else {
      console.out << interleaving_text(
          pair, found, interleave::interleaving_timeline_text(pair, found, options.contention));
    }
  }

 private:
  std::string plan_;
  std::string times_;
  double memory_limit_bytes_ = 0;
  std::int64_t layer_ = 0;
  bool no_rotation_ = false;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> interleave_command(CLI::App& program) {
  return std::make_unique<InterleaveCommand>(program);
}

}  // namespace stepwright::cli
