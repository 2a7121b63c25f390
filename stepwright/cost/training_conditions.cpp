#include "stepwright/cost/training_conditions.h"

#include <algorithm>
#include <cmath>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/name.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/yaml_writer.h"
#include "stepwright/cost/conditions_file.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/frameworks/table.h"

namespace stepwright::cost {

/// Returns the files of `cost/training/`, compiled in.
std::span<const EmbeddedFile> embedded_conditions();

namespace {

/// Share of a framework's deviation from the middle of all frameworks, in logarithms, that one
/// which launches the same code has in the mean: the part of the prior's variance that such
/// frameworks share (tools/accuracy/fit_conditions.py, `shared`).
constexpr double kSharedHostDeviation = 0.76;

template <class TrainingConstants, std::size_t kCount>
TrainingConstants read_entry(DocumentNode node, std::string_view name_key,
                             std::string TrainingConstants::* name,
                             const ConditionField<TrainingConstants> (&fields)[kCount]) {
  std::vector<std::string_view> keys = {name_key};
  for (const auto& field : fields) keys.push_back(field.key);
  node.allow_only_keys(keys);
  TrainingConstants entry;
  entry.*name = read_name(node.get(name_key));
  for (const auto& field : fields) {
    if (const auto given = node.find(field.key)) {
      entry.*field.value = given->number(field.low, field.high);
    }
  }
  return entry;
}

template <class TrainingConstants, std::size_t kCount>
DocumentTree entry_tree(const TrainingConstants& entry, std::string_view name_key,
                        const std::string& name,
                        const ConditionField<TrainingConstants> (&fields)[kCount]) {
  const TrainingConstants silent;
  DocumentTree tree = DocumentTree::empty_flow_mapping();
  tree.set(name_key, name);
  for (const auto& field : fields) {
    if (entry.*field.value != silent.*field.value) tree.set(field.key, entry.*field.value);
  }
  return tree;
}

struct WidthField {
  std::string_view key;
  double StepTimeRatioUncertainty::* value;
};
constexpr WidthField kWidths[] = {{"unknown", &StepTimeRatioUncertainty::unknown},
                                  {"experts", &StepTimeRatioUncertainty::experts},
                                  {"waits", &StepTimeRatioUncertainty::waits}};

StepTimeRatioUncertainty read_intervals(DocumentNode node) {
  StepTimeRatioUncertainty intervals;
  node.allow_only_keys({"known", "unknown", "experts", "waits"});
  if (const auto known = node.find("known")) {
    known->allow_only_keys({"low", "high"});
    intervals.known = {.low = known->get("low").number(0.01, 1),
                       .high = known->get("high").number(1, 100)};
  }
  for (const WidthField& field : kWidths) {
    if (const auto given = node.find(field.key)) intervals.*field.value = given->number(1, 10);
  }
  return intervals;
}

DocumentTree intervals_tree(const StepTimeRatioUncertainty& intervals) {
  DocumentTree tree = DocumentTree::make_empty_mapping();
  tree.set("known", DocumentTree::empty_flow_mapping()
                        .set("low", intervals.known.low)
                        .set("high", intervals.known.high));
  for (const WidthField& field : kWidths) tree.set(field.key, intervals.*field.value);
  return tree;
}

}  // namespace

const TrainingConditions& built_in_training_conditions() {
  static const TrainingConditions kAll = read_conditions(
      YamlJsonDocument::parse(embedded_conditions().front().text, "conditions.yaml"));
  return kAll;
}

TrainingConditions load_training_conditions(const std::filesystem::path& path) {
  return read_conditions(YamlJsonDocument::load(path));
}

TrainingConditions read_conditions(const YamlJsonDocument& document) {
  const DocumentNode root = document.root();
  plan::check_file_version(root, "training/1");
  root.allow_only_keys({"stepwright", "source", "intervals", "devices", "frameworks", "memory"});
  (void)plan::read_framework_extra_memory(root);
  TrainingConditions all;
  all.source = root.get("source").text();
  if (const auto intervals = root.find("intervals")) all.intervals = read_intervals(*intervals);
  const DocumentNode devices = root.get("devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    all.devices.push_back(
        read_entry(devices.at(i), "device", &DeviceTrainingFactors::device, kDeviceFields));
  }
  const DocumentNode frameworks = root.get("frameworks");
  for (std::size_t i = 0; i < frameworks.size(); ++i) {
    all.frameworks.push_back(read_entry(frameworks.at(i), "framework",
                                        &FrameworkTrainingConstants::framework, kFrameworkFields));
  }
  return all;
}

std::string training_conditions_yaml(const TrainingConditions& all) {
  return training_conditions_yaml(all, {});
}

std::string training_conditions_yaml(const TrainingConditions& all,
                                     const std::vector<plan::FrameworkExtraMemory>& memory) {
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("stepwright", "training/1").set("source", all.source);
  file.set("intervals", intervals_tree(all.intervals));
  DocumentTree devices = DocumentTree::make_empty_sequence();
  for (const DeviceTrainingFactors& entry : all.devices) {
    devices.add(entry_tree(entry, "device", entry.device, kDeviceFields));
  }
  DocumentTree frameworks = DocumentTree::make_empty_sequence();
  for (const FrameworkTrainingConstants& entry : all.frameworks) {
    frameworks.add(entry_tree(entry, "framework", entry.framework, kFrameworkFields));
  }
  file.set("devices", devices).set("frameworks", frameworks);
  if (!memory.empty()) file.set("memory", plan::memory_conditions_tree(memory));
  return write_yaml(file);
}

TrainingConditions applicable_training_conditions(const plan::Job& job) {
  return job.conditions.empty() ? built_in_training_conditions()
                                : load_training_conditions(job.conditions);
}

DeviceTrainingFactors applicable_training_conditions(const TrainingConditions& all,
                                                     std::string_view device,
                                                     std::string_view generation) {
  for (const std::string_view name : {device, generation}) {
    for (const DeviceTrainingFactors& entry : all.devices) {
      if (entry.device == name) return entry;
    }
  }
  return {};
}

FrameworkTrainingConstants applicable_training_conditions(
    const TrainingConditions& all, const plan::TrainingFramework& framework) {
  const auto entry_of = [&](std::string_view name) {
    return std::ranges::find(all.frameworks, name, &FrameworkTrainingConstants::framework);
  };
  const auto own = entry_of(framework.name);
  if (own != all.frameworks.end()) return *own;
  const auto middle = entry_of("");
  FrameworkTrainingConstants others;
  if (middle != all.frameworks.end()) others = *middle;
  if (framework.name.empty()) return others;
  const auto akin = entry_of(plan::framework_description(framework.name).launches_like);
  if (akin != all.frameworks.end() && !akin->framework.empty() && others.host_us > 0) {
    others.host_us *= std::pow(akin->host_us / others.host_us, kSharedHostDeviation);
  }
  return others;
}

StepTimeRatioInterval widened_ratio_interval(const StepTimeRatioInterval& interval, double factor) {
  return {.low = std::pow(interval.low, factor), .high = std::pow(interval.high, factor)};
}

int count_job_traits_without_fitted_run(const TrainingConditions& all, const plan::Job& job) {
  const cluster::DeviceModel& device = job.cluster.device;
  const std::string_view generation = cluster::device_generation_of(device).name;
  const auto of_device = [&](const DeviceTrainingFactors& entry) {
    return entry.device == device.name || (!device.variant && entry.device == generation);
  };
  const auto of_framework = [&](const FrameworkTrainingConstants& entry) {
    return !entry.framework.empty() && entry.framework == job.framework.name;
  };
  const bool device_known = std::ranges::any_of(all.devices, of_device);
  const bool framework_known = std::ranges::any_of(all.frameworks, of_framework);
  // No fitted run computes in 32 bits, with or without TF32.
  const bool precision_known = element_size_centibits(job.precision) <= 1600;
  return (framework_known ? 0 : 1) + (device_known ? 0 : 1) + (precision_known ? 0 : 1);
}

StepTimeRatioInterval job_step_time_ratio_interval(const TrainingConditions& all,
                                                   const plan::Job& job) {
  const StepTimeRatioUncertainty& intervals = all.intervals;
  const double experts = job.model.experts ? intervals.experts : 1;
  return widened_ratio_interval(
      intervals.known,
      std::pow(intervals.unknown, count_job_traits_without_fitted_run(all, job)) * experts);
}

}  // namespace stepwright::cost
