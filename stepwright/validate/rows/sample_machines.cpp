#include "stepwright/validate/rows/sample_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/name.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/cost/profiles/profile_catalog.h"

namespace stepwright::validate {
namespace {

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

[[noreturn]] void fail_unknown(const std::string& name, std::vector<std::string_view> known) {
  std::ranges::sort(known);
  const auto repeated = std::ranges::unique(known);
  known.erase(repeated.begin(), repeated.end());
  fail_input(
      fmt::format("no machine '{}'{}; a file with a profile or a cluster is allowed here, too",
                  name, unknown_word_hint_text(name, known, "stepwright list profiles")));
}

/// A file with a profile or a cluster; its first key tells which.
struct MachineFile {
  YamlJsonDocument document;
  bool is_cluster = false;
};
MachineFile load_machine_file(const std::string& path) {
  MachineFile file{.document = YamlJsonDocument::load(path)};
  const DocumentNode kind = file.document.root().get("stepwright");
  file.is_cluster = kind.text() == "cluster/1";
  if (!file.is_cluster && kind.text() != "profile/1") {
    kind.fail(
        fmt::format("is {}; allowed: profile/1, cluster/1", one_line_printable_text(kind.text())));
  }
  return file;
}

/// Returns the device of a profile: a profile of operators describes it, one of collectives names
/// it.
std::string device_name(const YamlJsonDocument& profile) {
  const DocumentNode device = profile.root().get("device");
  return read_name(device.is_mapping() ? device.get("name") : device);
}

std::shared_ptr<const cost::OperatorProfile> read_profile(const YamlJsonDocument& document) {
  if (!document.root().find("operators")) return nullptr;
  return std::make_shared<cost::OperatorProfile>(cost::read_operator_profile(document));
}

OperatorTimeMachine operator_machine(const std::string& name) {
  const auto of_profile = [](const YamlJsonDocument& profile) {
    return OperatorTimeMachine(cluster::built_in_device(device_name(profile)),
                               read_profile(profile));
  };
  if (holds(cost::built_in_profile_names(), name)) return of_profile(cost::load_profile(name));
  if (holds(cluster::built_in_device_names(), name))
    return {cluster::built_in_device(name), nullptr};
  if (holds(cluster::built_in_cluster_names(), name))
    return {cluster::load_cluster(name, 1).device, nullptr};
  if (path_exists(name)) {
    const MachineFile file = load_machine_file(name);
    if (!file.is_cluster) return of_profile(file.document);
    return {
        cluster::read_job_cluster(file.document.root(), std::filesystem::path(name).parent_path())
            .device,
        nullptr};
  }
  std::vector<std::string_view> known = cost::built_in_profile_names();
  for (const auto& more : {cluster::built_in_device_names(), cluster::built_in_cluster_names()}) {
    known.insert(known.end(), more.begin(), more.end());
  }
  fail_unknown(name, known);
}

/// Returns the first machine with this device; null: none.
const fit::SampledMachine* machine_with(std::string_view device) {
  for (const fit::SampledMachine& machine : fit::sampled_machines()) {
    if (cluster::load_cluster(machine.cluster, 1).device.name == device) return &machine;
  }
  return nullptr;
}

}  // namespace

OperatorTimeMachine::OperatorTimeMachine(const cluster::DeviceModel& device,
                                         std::shared_ptr<const cost::OperatorProfile> profile)
    : device_(device), own_(std::move(profile)), profiles_(cost::operator_profiles_for(device)) {
  if (own_ != nullptr) profiles_.insert(profiles_.begin(), own_.get());
}

const cost::ComputationCostModel& OperatorTimeMachine::cost(cluster::AttentionKernel kernel) {
  if (const auto found = costs_.find(kernel); found != costs_.end()) return found->second;
  plan::Job job;
  job.cluster.device = device_;
  job.kernels.attention = kernel;
  return costs_
      .emplace(kernel, cost::ComputationCostModel(job, profiles_, cost::DeviceLoad::kIsolated))
      .first->second;
}

std::string OperatorTimeMachine::operator_time_warning(const fit::OperatorSample& sample,
                                                       cost::OperatorPass pass) const {
  for (const cost::OperatorProfile* profile : profiles_) {
    const Later<cost::OperatorClassFit>* entry = profile->find(sample.what, pass);
    if (entry == nullptr) continue;
    std::string text;
    if (profile->device != device_.name) text = fmt::format("scaled from {}", profile->device);
    const std::string outside = cost::outside_fitted_range_text(entry->get(), sample.op);
    if (outside.empty()) return text;
    text += fmt::format("{}outside of the measured sizes: {}", text.empty() ? "" : "; ", outside);
    return text;
  }
  return "no fit: documented defaults";
}

OperatorTimeMachine& OperatorMachineFinder::machine_by_name(const std::string& name) {
  if (const auto found = machines_.find(name); found != machines_.end()) return found->second;
  return machines_.emplace(name, operator_machine(name)).first->second;
}

fit::SampledMachine CollectiveMachineFinder::of_file(const std::string& path) {
  MachineFile file = load_machine_file(path);
  if (file.is_cluster) {
    return {.name = kept(cluster::load_cluster(path, 1).name), .cluster = kept(path)};
  }
  const DocumentNode root = profiles_.emplace_back(std::move(file.document)).root();
  const auto cluster = root.find("cluster");
  fit::SampledMachine machine =
      described(cluster ? cluster->text() : device_name(profiles_.back()));
  machine.name = kept(read_name(root.get("name")));
  return machine;
}

fit::SampledMachine CollectiveMachineFinder::described(const std::string& name) {
  const fit::SampledMachine* known = fit::find_sampled_machine(name);
  if (known == nullptr && holds(cluster::built_in_device_names(), name)) known = machine_with(name);
  if (known != nullptr) return *known;
  if (path_exists(name)) return of_file(name);
  std::vector<std::string_view> names;
  for (const fit::SampledMachine& machine : fit::sampled_machines()) names.push_back(machine.name);
  fail_unknown(name, names);
}

const fit::SampledMachine* CollectiveMachineFinder::machine_by_name(const std::string& name) {
  if (name.empty()) return nullptr;
  if (const fit::SampledMachine* known = fit::find_sampled_machine(name)) return known;
  if (const auto found = machines_.find(name); found != machines_.end()) return &found->second;
  const std::size_t before = profiles_.size();
  const fit::SampledMachine& machine = machines_.emplace(name, described(name)).first->second;
  if (profiles_.size() > before && profiles_.back().root().find("collectives")) {
    predictor_.set_machine_profile(machine, profiles_.back());
  }
  return &machine;
}

}  // namespace stepwright::validate
