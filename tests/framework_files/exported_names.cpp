#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/collective_files/msccl.h"
#include "stepwright/collective_files/nccl_tuner.h"
#include "stepwright/core/document.h"
#include "stepwright/core/quoting.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/files.h"
#include "target_method.h"

// Reads names as a JSON object {"exported": [...], "quoted": [...]} and prints, as JSON, the files
// of all targets for plans whose model, cluster, devices and levels have each exported name, and
// each quoted name as a literal of each language. No reader has seen the names.

namespace {

using namespace stepwright;
using Json = nlohmann::ordered_json;

/// A plan whose heads are wider than hidden / heads, so that torchtitan must name the width.
constexpr const char* kPlan = R"(stepwright: plan/1
job:
  model: {base: llama-3-8b, layers: 8, head_dim: 64}
  cluster: {profile: dgx-h100, nodes: 2}
  batch: {sequences: 64, length: 4096}
  optimizer: adamw
parallel: {data: 16}
sharding: GGG
micro_batch: 1
)";

plan::PlannedJob named(plan::PlannedJob planned, const std::string& name) {
  planned.job.model_name = planned.job.model.name = name;
  planned.job.cluster.name = planned.job.cluster.device.name = name;
  for (cluster::NetworkLevel& level : planned.job.cluster.levels) level.name = name;
  return planned;
}

/// A plan's file as a target writes it, before the plan is named.
struct Written {
  std::string word;
  const framework_files::LaunchTarget* target;
  plan::PlannedJob planned;
};

std::vector<Written> written(const plan::PlannedJob& planned) {
  std::vector<Written> all;
  for (const framework_files::LaunchTarget& target : framework_files::launch_targets()) {
    if (target.write == nullptr) continue;
    plan::PlannedJob trained = planned;
    trained.job.method = framework_files::method_of(target.word);
    const auto add = [&](const std::string& word, const std::string& release) {
      all.push_back({word, &target,
                     framework_files::export_plan(target.word, trained, release, true).started});
    };
    add(std::string(target.word), "");
    if (target.word == "torchtitan") add("torchtitan-toml", "0.2");
  }
  return all;
}

Json files_of(const std::vector<Written>& all, const std::string& name) {
  Json files;
  for (const auto& [word, target, planned] : all) {
    files[word] = target->write(named(planned, name), {"model: " + name, "device: " + name});
  }
  const plan::PlannedJob planned = named(all.front().planned, name);
  const collective::CollectiveSchedule ring = collective::generate_collective_schedule(
      {collective::CollectiveAlgorithm::kRing, collective::CollectiveOperation::kAllGather, {2}});
  files["msccl-xml"] = collective_files::msccl_xml(ring, {.name = name});
  files["nccl-tuner"] = collective_files::nccl_tuner_csv(
      cost::MessageCostModel(planned.job.cluster),
      collective_files::plan_tuner_communicators(planned), {.about = "NCCL on " + name});
  return files;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json asked = Json::parse(text);
  const YamlJsonDocument document = YamlJsonDocument::parse(kPlan, "plan.yaml");
  const std::vector<Written> all = written(plan::read_plan(document, {}));
  Json answer{{"files", Json::array()}, {"literals", Json::array()}};
  for (const std::string name : asked["exported"]) {
    answer["files"].push_back(files_of(all, name));
  }
  for (const std::string name : asked["quoted"]) {
    answer["literals"].push_back({{"shell", quoted_for_shell(name)},
                                  {"python", quoted_for_python(name)},
                                  {"toml", quoted_for_toml(name)},
                                  {"yaml", quoted_for_yaml(name)},
                                  {"comment", as_comment_line(name)}});
  }
  std::cout << answer << '\n';
  return 0;
}
