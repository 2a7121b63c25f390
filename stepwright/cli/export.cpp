#include <fmt/format.h>

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
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/proof.h"
#include "stepwright/collective_files/msccl.h"
#include "stepwright/collective_files/mscclpp.h"
#include "stepwright/collective_files/nccl_tuner.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/framework_files/file_ending.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/runtime/launch/number_option.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::cli {
namespace {

constexpr Named<collective::Collective> kExportedCollectives[] = {
    {collective::Collective::kAllReduce, "all_reduce"},
    {collective::Collective::kAllGather, "all_gather"},
    {collective::Collective::kReduceScatter, "reduce_scatter"},
    {collective::Collective::kAllToAll, "all_to_all"},
    {collective::Collective::kBroadcast, "broadcast"},
    {collective::Collective::kReduce, "reduce"}};

/// Beyond it a plan has more steps than a loader is meant for.
constexpr std::int32_t kMostExportedRanks = 1024;

template <class Enum, std::size_t kCount>
std::vector<std::string> words_of(const Named<Enum> (&table)[kCount]) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.name);
  return words;
}

template <class Enum, std::size_t kCount>
Enum value_of(const Named<Enum> (&table)[kCount], const std::string& word) {
  for (const auto& [value, name] : table) {
    if (name == word) return value;
  }
  fail_input(fmt::format("'{}' is not known", word));
}

/// Options that only schedules, and that only tuner files, are made from.
constexpr const char* kScheduleOptions[] = {"--collective", "--algorithm", "--tiers", "--chunks"};
constexpr const char* kTunerOptions[] = {"--cluster", "--nodes", "--channels"};
/// Options that only files of training programs are made from.
constexpr const char* kLaunchOptions[] = {"--release", "--nearest"};
/// Targets that carry out collectives.
constexpr const char* kCollectiveTargets[] = {"mscclpp", "msccl-xml", "nccl-tuner"};

std::vector<std::string> target_words() {
  std::vector<std::string> words = framework_files::export_words();
  words.insert(words.end(), std::begin(kCollectiveTargets), std::end(kCollectiveTargets));
  return words;
}
/// The most channels that NCCL has.
constexpr int kMostNcclChannels = 64;

class Export : public Command {
 public:
  explicit Export(CLI::App& program)
      : Command(
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
        ->transform(one_of(target_words()));
    add_launch_options();
    add_schedule_options();
    add_tuner_options();
    writes(app().add_option("-o,--output", output_, "Write to FILE instead of the terminal"))
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const bool tunes = to_ == "nccl-tuner";
    const auto words = framework_files::export_words();
    const bool launches = std::ranges::find(words, to_) != words.end();
    if (!launches) refuse(kLaunchOptions, "the files of a framework");
    if (launches) {
      refuse(kScheduleOptions, "--to mscclpp and msccl-xml");
      refuse(kTunerOptions, "--to nccl-tuner");
    } else if (tunes) {
      refuse(kScheduleOptions, "--to mscclpp and msccl-xml");
    } else {
      refuse(kTunerOptions, "--to nccl-tuner");
      if (!plan_.empty()) fail_input("--plan goes with --to nccl-tuner and frameworks");
    }
    if (json() && to_ != "mscclpp") fail_input(fmt::format("--json: {} is no JSON", to_));
    if (launches) return launch(console);
    if (tunes)
      return write(console, "a tuner file", [&](std::ostream& out) { out << tuner(console); });
    const collective::ScheduleSpec spec = asked_for();
    const collective::CollectiveSchedule schedule = proven(spec);
    write(console, "a proven schedule",
          [&](std::ostream& out) { write_schedule(schedule, spec, out); });
  }

 private:
  void add_launch_options() {
    reads(app().add_option(
              "PLAN,--plan", plan_,
              "Plan file: of frameworks and launchers what they shall run, of nccl-tuner\n"
              "whose cluster and groups"))
        ->type_name("FILE");
    app()
        .add_option("--release", release_,
                    "Of the framework that is written for; that of the job, else the newest")
        ->type_name("RELEASE");
    app().add_flag("--nearest", nearest_,
                   "Where the framework does not run the plan, write the nearest that it does");
  }

  void launch(const Console& console) const {
    if (plan_.empty()) fail_input(fmt::format("--plan is required for --to {}", to_));
    const plan::PlannedJob planned =
        load_settled_plan(plan_, console, framework_files::target_framework(to_, release_));
    const bool stated = !release_.empty() || !planned.job.framework.version.empty();
    const std::string release =
        stated ? release_ : framework_files::release_of_ending(to_, output_);
    const framework_files::LaunchFile file =
        framework_files::export_plan(to_, planned, release, nearest_, plan_);
    for (const std::string& note : file.notes) console.log.info(note);
    if (release != release_) {
      console.log.info(
          fmt::format("Written for release {}, as the ending of {} asks.", release, output_));
    }
    const std::string other =
        framework_files::other_ending(to_, file.started.job.framework.version, output_);
    if (!other.empty()) console.log.warn(other);
    const simulate::Prediction there = simulate::predict(file.started);
    console.log.info(time_note(planned, there));
    if (!there.memory.fits()) console.log.warn(misfit_note(there));
    write(console, fmt::format("the plan for {}", to_).c_str(),
          [&](std::ostream& out) { out << file.text; });
  }

  /// What a step takes as the file starts it, and by the plan where that differs.
  static std::string time_note(const plan::PlannedJob& planned,
                               const simulate::Prediction& started) {
    const double here_s = simulate::predict(planned).step_time_s();
    const double there_s = started.step_time_s();
    const std::string there = fmt::format(
        "A step takes {} as the file starts it, with attention {}", format_time(there_s),
        name_of(cluster::kAttentionKernelNames, started.planned.job.kernels.attention));
    if (format_time(here_s) == format_time(there_s)) return there + ".";
    return fmt::format("{}; {} as the plan says it, with {}.", there, format_time(here_s),
                       name_of(cluster::kAttentionKernelNames, planned.job.kernels.attention));
  }

  /// By how much what the file starts does not fit, and how to find what does.
  static std::string misfit_note(const simulate::Prediction& started) {
    const plan::Framework& framework = started.planned.job.framework;
    const std::string& name = framework.variant.empty() ? framework.name : framework.variant;
    const std::string instead =
        name.empty()
            ? ""
            : fmt::format("; `stepwright tune JOB --framework {}` looks for one that does", name);
    return fmt::format("What the file starts DOES NOT FIT: it needs {}, {} too much{}.",
                       memory_use(started.memory), format_bytes(started.memory.over_by_bytes()),
                       instead);
  }

  void add_schedule_options() {
    app()
        .add_option("--collective", collective_, "all_reduce, all_gather, reduce_scatter, ...")
        ->transform(one_of(words_of(kExportedCollectives)));
    app()
        .add_option("--algorithm", method_, "ho-ring, ring, ... (stepwright list collectives)")
        ->transform(one_of(words_of(collective::kGeneratedNames)));
    app()
        .add_option("--tiers", tiers_, "Ranks per node, nodes: 8,4")
        ->delimiter(',')
        ->check(runtime::whole_number(1, cluster::kMaxDevices));
    app()
        .add_option("--chunks", chunks_, "Parts of a block, 1 by default")
        ->check(runtime::whole_number(1, collective::kMostChunks));
  }

  void add_tuner_options() {
    reads(app().add_option(
              "--cluster", cluster_,
              "Profile (stepwright list profiles) or cluster file, for groups of\nwhole nodes"))
        ->type_name("NAME");
    app()
        .add_option("--nodes", nodes_, "Of the cluster, 1 by default")
        ->check(runtime::whole_number(1, cluster::kMaxDevices));
    app()
        .add_option("--channels", channels_,
                    "Of NCCL; without, NCCL's choice (docs/collectives.md)")
        ->check(runtime::whole_number(1, kMostNcclChannels));
  }

  [[nodiscard]] collective::ScheduleSpec asked_for() const {
    for (const auto& [option, missing] :
         {std::pair{"--collective", collective_.empty()}, {"--tiers", tiers_.empty()}}) {
      if (missing) fail_input(fmt::format("{} is required for --to {}", option, to_));
    }
    const collective::ScheduleSpec spec{value_of(collective::kGeneratedNames, method_),
                                        value_of(kExportedCollectives, collective_), tiers_,
                                        chunks_};
    if (const auto reason = collective::why_not(spec)) fail_input(*reason);
    if (collective::ranks_of(spec) > kMostExportedRanks) {
      fail_input(fmt::format("tiers: {} ranks, at most {}", collective::ranks_of(spec),
                             kMostExportedRanks));
    }
    return spec;
  }

  static collective::CollectiveSchedule proven(const collective::ScheduleSpec& spec) {
    collective::CollectiveSchedule schedule = collective::generate(spec);
    if (const auto defect = collective::defect_of(schedule))
      throw Error(ErrorKind::kRuntime, defect->text);
    return schedule;
  }

  void write_schedule(const collective::CollectiveSchedule& schedule,
                      const collective::ScheduleSpec& spec, std::ostream& out) const {
    const std::string name =
        fmt::format("stepwright {} {} of {}", method_, collective_, collective::ranks_of(spec));
    if (to_ == "msccl-xml") {
      out << collective_files::msccl_xml(schedule, {.name = name});
    } else {
      print_json(out, collective_files::mscclpp_plan(
                          schedule, {.name = name, .ranks_per_node = tiers_.front()}));
    }
  }

  [[nodiscard]] std::string tuner(const Console& console) const {
    if (cluster_.empty() == plan_.empty()) {
      fail_input("--to nccl-tuner needs --cluster or --plan, one of them");
    }
    if (cluster_.empty()) {
      if (nodes_) fail_input("--nodes goes with --cluster");
      const plan::PlannedJob planned = load_settled_plan(plan_, console);
      return tuner_of(planned.job.cluster, collective_files::plan_groups(planned));
    }
    const cluster::Cluster cluster = cluster::load_cluster(cluster_, nodes_.value_or(1));
    return tuner_of(cluster, collective_files::node_groups(cluster));
  }

  [[nodiscard]] std::string tuner_of(
      const cluster::Cluster& cluster,
      const std::vector<collective_files::TunerGroup>& groups) const {
    const std::string about =
        fmt::format("NCCL on {}, nodes: {}, each of {} {}", cluster.name, cluster.nodes,
                    cluster.devices_per_node, cluster.device.name);
    return collective_files::nccl_tuner_csv(cost::CollectiveCost(cluster), groups,
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
  int channels_ = -1;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> export_command(CLI::App& program) {
  return std::make_unique<Export>(program);
}

}  // namespace stepwright::cli
