#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/exported_job.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/proof.h"
#include "stepwright/collective_files/msccl.h"
#include "stepwright/collective_files/mscclpp.h"
#include "stepwright/collective_files/nccl_tuner.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/frameworks/file_words.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr Named<collective::CollectiveOperation> kExportedCollectives[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"},
    {collective::CollectiveOperation::kAllToAll, "all_to_all"},
    {collective::CollectiveOperation::kBroadcast, "broadcast"},
    {collective::CollectiveOperation::kReduce, "reduce"}};

/// Larger plans have more steps than loaders of these files are made for.
constexpr std::int32_t kMostExportedRanks = 1024;

template <class EnumNamedByWord, std::size_t kCount>
std::vector<std::string> words_of(const Named<EnumNamedByWord> (&table)[kCount]) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.name);
  return words;
}

template <class EnumNamedByWord, std::size_t kCount>
EnumNamedByWord value_of(const Named<EnumNamedByWord> (&table)[kCount], const std::string& word) {
  for (const auto& [value, name] : table) {
    if (name == word) return value;
  }
  fail_input(fmt::format("'{}' is not known", word));
}

/// Options for exporting schedules only, and options for exporting tuner files only.
constexpr const char* kScheduleOptions[] = {"--collective", "--algorithm", "--tiers", "--chunks"};
constexpr const char* kTunerOptions[] = {"--cluster", "--nodes", "--channels"};
/// Options for exporting files of training programs only.
constexpr const char* kLaunchOptions[] = {"--release", "--nearest", "--even-if-it-does-not-fit"};
/// Targets that execute collectives.
constexpr const char* kCollectiveTargets[] = {"mscclpp", "msccl-xml", "nccl-tuner"};

std::vector<std::string> target_words() {
  std::vector<std::string> words = framework_files::export_target_names();
  words.insert(words.end(), std::begin(kCollectiveTargets), std::end(kCollectiveTargets));
  return plan::add_framework_names(std::move(words));
}

/// Returns a validator that refuses a program whose files cannot be read on their own, naming it.
CLI::Validator not_read_alone() {
  const auto why = [](const std::string& word) -> std::string {
    const std::vector<std::string> written = target_words();
    const std::vector<std::string> read = framework_files::import_target_names();
    const auto has = [&](const auto& words) {
      return std::ranges::find(words, word) != words.end();
    };
    if (has(written) || !has(read)) return "";
    return fmt::format("files of {} can be read but not written; must be one of {}", word,
                       fmt::join(written, ", "));
  };
  return {why, ""};
}

/// The most channels that NCCL can use.
constexpr int kMostNcclChannels = 64;

class Export : public Subcommand {
 public:
  explicit Export(CLI::App& program)
      : Subcommand(
            program, "export", "Write a plan or its collectives for another program",
            "  stepwright export --to megatron --plan plan.yaml -o train.sh\n"
            "  stepwright export --to mscclpp --collective all_gather --tiers 8,2 -o plan.json\n"
            "  stepwright export --to msccl-xml --collective all_reduce --algorithm ring --tiers "
            "8\n"
            "  stepwright export --to nccl-tuner --cluster dgx-h100 --nodes 4 -o nccl_tuner.conf\n"
            "  stepwright export --to nccl-tuner --plan plan.yaml --channels 16") {
    app()
        .add_option("--to", to_,
                    "A framework or launcher: the plan as its own files (docs/launch.md);\n"
                    "mscclpp: a schedule as an execution plan of MSCCL++; msccl-xml: as an\n"
                    "algorithm file of MSCCL; nccl-tuner: what NCCL should take for each\n"
                    "size, for its example tuner plugin")
        ->required()
        ->transform(one_of_words_validator(target_words()))
        ->transform(
            // Checked first: CLI11 runs the validator that was added last before the others.
            not_read_alone());
    add_launch_options();
    add_schedule_options();
    add_tuner_options();
    mark_option_as_output(
        app().add_option("-o,--output", output_, "Write to FILE instead of the terminal"))
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    to_ = plan::file_word_of_framework(to_);
    const bool tunes = to_ == "nccl-tuner";
    const auto words = framework_files::export_target_names();
    const bool launches = std::ranges::find(words, to_) != words.end();
    if (!launches) refuse_options(kLaunchOptions, "the files of a framework");
    if (launches) {
      refuse_options(kScheduleOptions, "--to mscclpp and msccl-xml");
      refuse_options(kTunerOptions, "--to nccl-tuner");
    } else if (tunes) {
      refuse_options(kScheduleOptions, "--to mscclpp and msccl-xml");
    } else {
      refuse_options(kTunerOptions, "--to nccl-tuner");
      if (!plan_.empty()) fail_input("--plan is only for --to nccl-tuner and frameworks");
    }
    if (wants_json_output() && to_ != "mscclpp") {
      fail_input(fmt::format("--json is only for --to mscclpp: files of {} are not JSON", to_));
    }
    if (launches) return launch(console);
    if (tunes)
      return write(console, "a tuner file", [&](std::ostream& out) { out << tuner(console); });
    const collective::CollectiveScheduleSpec spec = asked_for();
    const collective::CollectiveSchedule schedule = proven(spec);
    write(console, "a proven schedule",
          [&](std::ostream& out) { write_schedule(schedule, spec, out); });
  }

 private:
  void add_launch_options() {
    reads(app().add_option("PLAN,--plan", plan_,
                           "Plan file: for frameworks and launchers the plan to run, for "
                           "nccl-tuner\nthe plan whose cluster and groups are tuned"),
          OptionInputKind::kDocument)
        ->type_name("FILE");
    app()
        .add_option(
            "--release", release_,
            "Release of the framework to write for; by default that of the job, else the newest")
        ->type_name("RELEASE");
    app().add_flag("--nearest", nearest_,
                   "If the framework does not run the plan, or the plan does not fit in memory, "
                   "write\nthe nearest plan that runs and fits");
    app().add_flag("--even-if-it-does-not-fit", any_size_,
                   "Write the file of a plan that does not fit in memory, with a warning");
  }

  void launch(const Console& console) const {
    if (plan_.empty()) fail_input(fmt::format("--plan is required for --to {}", to_));
    const framework_files::LaunchFile file =
        export_launch_file({.to = to_,
                            .release = release_,
                            .plan = plan_,
                            .output = output_,
                            .nearest = nearest_,
                            .even_if_it_does_not_fit = any_size_},
                           console);
    write(console, fmt::format("the plan for {}", to_).c_str(),
          [&](std::ostream& out) { out << file.text; });
  }

  void add_schedule_options() {
    app()
        .add_option("--collective", collective_, "all_reduce, all_gather, reduce_scatter, ...")
        ->transform(one_of_words_validator(words_of(kExportedCollectives)));
    app()
        .add_option("--algorithm", method_, "ho-ring, ring, ... (stepwright list collectives)")
        ->transform(
            one_of_words_validator(words_of(collective::kGeneratedCollectiveAlgorithmNames)));
    app()
        .add_option("--tiers", tiers_, "Ranks per node, nodes: 8,4")
        ->delimiter(',')
        ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
    app()
        .add_option("--chunks", chunks_, "Parts of a block, 1 by default")
        ->check(runtime::whole_number_validator(1, collective::kMaxTriedChunksPerBlock));
  }

  void add_tuner_options() {
    reads(app().add_option(
              "--cluster", cluster_,
              "Profile (stepwright list profiles) or cluster file, for groups of\nwhole nodes"))
        ->type_name("NAME");
    app()
        .add_option("--nodes", nodes_, "Of the cluster, 1 by default")
        ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
    app()
        .add_option("--channels", channels_,
                    "Of NCCL; without, NCCL's choice (docs/collectives.md)")
        ->check(runtime::whole_number_validator(1, kMostNcclChannels));
  }

  [[nodiscard]] collective::CollectiveScheduleSpec asked_for() const {
    for (const auto& [option, missing] :
         {std::pair{"--collective", collective_.empty()}, {"--tiers", tiers_.empty()}}) {
      if (missing) fail_input(fmt::format("{} is required for --to {}", option, to_));
    }
    const collective::CollectiveScheduleSpec spec{
        value_of(collective::kGeneratedCollectiveAlgorithmNames, method_),
        value_of(kExportedCollectives, collective_), tiers_, chunks_};
    if (const auto reason = collective::reason_no_collective_schedule_exists(spec))
      fail_input(*reason);
    if (collective::collective_schedule_rank_count(spec) > kMostExportedRanks) {
      fail_input(fmt::format("tiers: {} ranks, at most {}",
                             collective::collective_schedule_rank_count(spec), kMostExportedRanks));
    }
    return spec;
  }

  static collective::CollectiveSchedule proven(const collective::CollectiveScheduleSpec& spec) {
    collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
    if (const auto defect = collective::find_collective_schedule_defect(schedule))
      throw Error(ErrorKind::kRuntime, defect->text);
    return schedule;
  }

  void write_schedule(const collective::CollectiveSchedule& schedule,
                      const collective::CollectiveScheduleSpec& spec, std::ostream& out) const {
    const std::string name = fmt::format("stepwright {} {} of {}", method_, collective_,
                                         collective::collective_schedule_rank_count(spec));
    if (to_ == "msccl-xml") {
      out << collective_files::msccl_xml(schedule, {.name = name});
    } else {
      print_json(out, collective_files::mscclpp_execution_plan(
                          schedule, {.name = name, .ranks_per_node = tiers_.front()}));
    }
  }

  [[nodiscard]] std::string tuner(const Console& console) const {
    if (cluster_.empty() == plan_.empty()) {
      fail_input("--to nccl-tuner needs either --cluster or --plan");
    }
    if (cluster_.empty()) {
      if (nodes_) fail_input("--nodes is only for --cluster");
      const plan::PlannedJob planned = load_settled_plan(plan_, console);
      return tuner_of(planned.job.cluster, collective_files::plan_tuner_communicators(planned));
    }
    const cluster::Cluster cluster = cluster::load_cluster(cluster_, nodes_.value_or(1));
    return tuner_of(cluster, collective_files::cluster_tuner_communicators(cluster));
  }

  [[nodiscard]] std::string tuner_of(
      const cluster::Cluster& cluster,
      const std::vector<collective_files::TunerCommunicatorKind>& groups) const {
    const std::string about =
        fmt::format("NCCL on {}, nodes: {}, each of {} {}", cluster.name, cluster.nodes,
                    cluster.devices_per_node, cluster.device.name);
    return collective_files::nccl_tuner_csv(cost::MessageCostModel(cluster), groups,
                                            {.about = about, .channels = channels_});
  }

  void write(const Console& console, const char* what,
             const std::function<void(std::ostream&)>& content) const {
    if (output_.empty()) return content(console.out);
    write_file(output_, content);
    console.log.info(fmt::format("wrote {} to {}", what, output_));
  }

  std::string to_;
  std::string collective_;
  std::string method_ = "ho-ring";
  std::vector<std::int32_t> tiers_;
  std::int32_t chunks_ = 1;
  std::string cluster_;
  std::optional<std::int64_t> nodes_;
  std::string plan_;
  std::string release_;
  bool nearest_ = false;
  bool any_size_ = false;
  int channels_ = -1;
  std::string output_;
};

}  // namespace

std::unique_ptr<Subcommand> export_command(CLI::App& program) {
  return std::make_unique<Export>(program);
}

}  // namespace stepwright::cli
