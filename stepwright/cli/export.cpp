#include <fmt/format.h>
#include <spdlog/logger.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/output.h"
#include "stepwright/collective/generate.h"
#include "stepwright/collective/proof.h"
#include "stepwright/core/error.h"
#include "stepwright/export/mscclpp.h"

namespace stepwright {
namespace {

constexpr Named<Collective> kExportedCollectives[] = {
    {Collective::kAllReduce, "all_reduce"},
    {Collective::kAllGather, "all_gather"},
    {Collective::kReduceScatter, "reduce_scatter"},
    {Collective::kAllToAll, "all_to_all"},
    {Collective::kBroadcast, "broadcast"}};

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

class Export : public Command {
 public:
  explicit Export(CLI::App& program)
      : Command(
            program, "export", "Write a collective for another program to run",
            "  stepwright export --to mscclpp --collective all_gather --tiers 8,2 -o plan.json\n"
            "  stepwright export --to mscclpp --collective all_reduce --algorithm ring "
            "--tiers 8") {
    app()
        .add_option("--to", to_, "mscclpp: an execution plan of MSCCL++")
        ->required()
        ->check(CLI::IsMember({"mscclpp"}));
    app()
        .add_option("--collective", collective_, "all_reduce, all_gather, reduce_scatter, ...")
        ->required()
        ->check(CLI::IsMember(words_of(kExportedCollectives)));
    app()
        .add_option("--algorithm", method_, "ho-ring, ring, ... (stepwright list collectives)")
        ->check(CLI::IsMember(words_of(kMethodNames)));
    app().add_option("--tiers", tiers_, "Ranks per node, nodes: 8,4")->required()->delimiter(',');
    app().add_option("--chunks", chunks_, "Parts of a block, 1 by default");
    app()
        .add_option("-o,--output", output_, "Write to FILE instead of the terminal")
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const ScheduleSpec spec{value_of(kMethodNames, method_),
                            value_of(kExportedCollectives, collective_), tiers_, chunks_};
    if (const auto reason = why_not(spec)) fail_input(*reason);
    if (ranks_of(spec) > kMostExportedRanks) {
      fail_input(fmt::format("tiers: {} ranks, at most {}", ranks_of(spec), kMostExportedRanks));
    }
    const CollectiveSchedule schedule = generate(spec);
    if (const auto defect = defect_of(schedule)) throw Error(ErrorKind::kRuntime, defect->text);
    const MscclppSetting setting{
        .name = fmt::format("stepwright {} {} of {}", method_, collective_, ranks_of(spec)),
        .ranks_per_node = tiers_.front()};
    const nlohmann::ordered_json plan = mscclpp_plan(schedule, setting);
    if (output_.empty()) return print_json(console.out, plan);
    write_file(output_, [&](std::ostream& out) { print_json(out, plan); });
    console.log.info("wrote a proven schedule to {}", output_);
  }

 private:
  std::string to_;
  std::string collective_;
  std::string method_ = "ho-ring";
  std::vector<std::int32_t> tiers_;
  std::int32_t chunks_ = 1;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> export_command(CLI::App& program) {
  return std::make_unique<Export>(program);
}

}  // namespace stepwright
