#include "stepwright/learn/learnable_constants.h"

#include <algorithm>
#include <cmath>

#include "stepwright/cluster/generation.h"

namespace stepwright::learn {
namespace {

/// A key that runs may move. Its width is at least the root mean square, over frameworks and over
/// generations, of how far a fit with their rows moves the logarithm (docs/accuracy.md, "What runs
/// may move"); wider for `network_rate`, which depends on the cluster more than on its devices.
struct Key {
  double cost::DeviceTrainingFactors::* of_device = nullptr;
  double cost::FrameworkTrainingConstants::* of_framework = nullptr;
  double width = 0;  ///< Deviation of the logarithm of (value - offset).
  double least = 0.1;
  double most = 2;
  double offset = 0;
};

constexpr Key of_device(double cost::DeviceTrainingFactors::* value, double width) {
  return {.of_device = value, .width = width};
}
constexpr Key of_framework(double cost::FrameworkTrainingConstants::* value, double width,
                           double least, double most, double offset = 0) {
  return {.of_framework = value, .width = width, .least = least, .most = most, .offset = offset};
}

constexpr Key kKeys[] = {
    of_device(&cost::DeviceTrainingFactors::product_rate, 0.17),
    of_device(&cost::DeviceTrainingFactors::narrow_product_rate, 0.15),
    of_device(&cost::DeviceTrainingFactors::attention_rate, 0.17),
    of_device(&cost::DeviceTrainingFactors::memory_rate, 0.14),
    of_device(&cost::DeviceTrainingFactors::inside_rate, 0.13),
    of_device(&cost::DeviceTrainingFactors::network_rate, 0.20),
    of_framework(&cost::FrameworkTrainingConstants::host_us, 0.6, 0.01, 1e4),
    of_framework(&cost::FrameworkTrainingConstants::step_ms, 1.4, 0.01, 1e5),
    of_framework(&cost::FrameworkTrainingConstants::update_passes, 0.4, 1, 100, 0.9),
    of_framework(&cost::FrameworkTrainingConstants::message_us, 0.6, 0.01, 1e6),
    of_framework(&cost::FrameworkTrainingConstants::stage_wait, 1.2, 0.01, 100),
    of_framework(&cost::FrameworkTrainingConstants::beside_inside, 0.3, 1.01, 10, 1),
    of_framework(&cost::FrameworkTrainingConstants::beside_network, 0.3, 1.01, 10, 1),
    of_framework(&cost::FrameworkTrainingConstants::tensor_exposed, 0.3, 0.05, 1),
    of_framework(&cost::FrameworkTrainingConstants::expert_exposed, 0.3, 0.05, 1)};

/// True if a file may have every value to which runs may move a key.
template <class Conditions, std::size_t kCount>
constexpr bool fits_files(const Key& key, double Conditions::* value,
                          const cost::ConditionField<Conditions> (&fields)[kCount]) {
  return value == nullptr || std::ranges::any_of(fields, [&](const auto& field) {
           return field.value == value && field.low <= key.least && key.most <= field.high;
         });
}
static_assert(std::ranges::all_of(kKeys, [](const Key& key) {
  return fits_files(key, key.of_device, cost::kDeviceFields) &&
         fits_files(key, key.of_framework, cost::kFrameworkFields);
}));

std::string_view name_of(const Key& key) {
  if (key.of_device == nullptr) {
    return std::ranges::find(cost::kFrameworkFields, key.of_framework,
                             &cost::ConditionField<cost::FrameworkTrainingConstants>::value)
        ->key;
  }
  return std::ranges::find(cost::kDeviceFields, key.of_device,
                           &cost::ConditionField<cost::DeviceTrainingFactors>::value)
      ->key;
}

/// Share of a key's variance that is common to all constants with the key.
constexpr double kShared = 0.5;
/// Deviation of the part that all rates of a person's devices share, for clocks and hosts unlike
/// those of published runs. Errors of whole sources that no constant had seen have a median of 8 to
/// 17 % with one sign (docs/accuracy.md, docs/accuracy/unseen_tables.md); a normal distribution's
/// deviation is half as much again.
constexpr double kCommonRate = 0.15;

const Key& key_at(int index) { return kKeys[static_cast<std::size_t>(index)]; }

template <class Entry>
void replace(std::vector<Entry>& entries, const Entry& entry, std::string Entry::* name) {
  std::erase_if(entries, [&](const Entry& other) { return other.*name == entry.*name; });
  entries.push_back(entry);
}

template <class Entry>
std::size_t place_of(const std::vector<Entry>& entries, std::string Entry::* name,
                     std::string_view wanted) {
  const auto found = std::ranges::find(entries, wanted, name);
  return static_cast<std::size_t>(found - entries.begin());
}

}  // namespace

LearnableConstants::LearnableConstants(const cost::TrainingConditions& start,
                                       std::span<const plan::Job* const> jobs)
    : start_(start) {
  for (const plan::Job* job : jobs) {
    const cluster::DeviceModel& device = job->cluster.device;
    if (place_of(devices_, &cost::DeviceTrainingFactors::device, device.name) == devices_.size()) {
      devices_.push_back(cost::applicable_training_conditions(
          start, device.name, cluster::device_generation_of(device).name));
      devices_.back().device = device.name;
    }
    const std::string& framework = job->framework.name;
    if (place_of(frameworks_, &cost::FrameworkTrainingConstants::framework, framework) ==
        frameworks_.size()) {
      frameworks_.push_back(cost::applicable_training_conditions(start, job->framework));
      frameworks_.back().framework = framework;
    }
  }
  add_places();
  set_prior();
}

void LearnableConstants::add_places() {
  for (int key = 0; key < static_cast<int>(std::size(kKeys)); ++key) {
    const Key& one = key_at(key);
    for (std::size_t i = 0; one.of_device != nullptr && i < devices_.size(); ++i) {
      places_.push_back({key, i, {name_of(one), devices_[i].device, devices_[i].*one.of_device}});
    }
    for (std::size_t i = 0; one.of_framework != nullptr && i < frameworks_.size(); ++i) {
      const cost::FrameworkTrainingConstants& entry = frameworks_[i];
      places_.push_back({key, i, {name_of(one), entry.framework, entry.*one.of_framework}});
    }
  }
}

void LearnableConstants::set_prior() {
  for (Eigen::VectorXd* each : {&prior_.mean, &prior_.least, &prior_.most}) each->resize(size());
  prior_.covariance.setZero(size(), size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    const Place& place = places_[static_cast<std::size_t>(i)];
    const Key& key = key_at(place.key);
    prior_.least[i] = std::log(key.least - key.offset);
    prior_.most[i] = std::log(key.most - key.offset);
    prior_.mean[i] = std::log(std::clamp(place.before.value, key.least, key.most) - key.offset);
    for (Eigen::Index j = 0; j < size(); ++j) {
      if (of_device(i) && of_device(j)) prior_.covariance(i, j) = kCommonRate * kCommonRate;
      if (places_[static_cast<std::size_t>(j)].key != place.key) continue;
      prior_.covariance(i, j) += key.width * key.width * (i == j ? 1 : kShared);
    }
  }
}

LearnableConstant LearnableConstants::constant_with_logarithm(Eigen::Index index,
                                                              double logarithm) const {
  LearnableConstant found = before(index);
  const Key& key = key_at(places_[static_cast<std::size_t>(index)].key);
  if (logarithm != prior_.mean[index]) {
    // A rounded logarithm may pass the limits within which it was kept.
    found.value = std::clamp(std::exp(logarithm) + key.offset, key.least, key.most);
  }
  return found;
}

const LearnableConstant& LearnableConstants::before(Eigen::Index index) const {
  return places_[static_cast<std::size_t>(index)].before;
}

bool LearnableConstants::of_device(Eigen::Index index) const {
  return key_at(places_[static_cast<std::size_t>(index)].key).of_device != nullptr;
}

bool LearnableConstants::depends_on_constant(Eigen::Index index, const plan::Job& job) const {
  const std::string& of = before(index).of;
  const Key& key = key_at(places_[static_cast<std::size_t>(index)].key);
  if (key.of_framework == &cost::FrameworkTrainingConstants::expert_exposed && !job.model.experts)
    return false;
  const bool narrow = plan::parameter_storage_type(job.precision) != job.precision;
  if (key.of_device == &cost::DeviceTrainingFactors::narrow_product_rate && !narrow) return false;
  return of == (of_device(index) ? job.cluster.device.name : job.framework.name);
}

cost::TrainingConditions LearnableConstants::at(const Eigen::VectorXd& logarithms,
                                                std::string source) const {
  cost::TrainingConditions all = start_;
  all.source = std::move(source);
  std::vector<cost::DeviceTrainingFactors> devices = devices_;
  std::vector<cost::FrameworkTrainingConstants> frameworks = frameworks_;
  for (Eigen::Index i = 0; i < size(); ++i) {
    const Place& place = places_[static_cast<std::size_t>(i)];
    const Key& key = key_at(place.key);
    const double value = constant_with_logarithm(i, logarithms[i]).value;
    if (key.of_device != nullptr) {
      devices[place.entry].*key.of_device = value;
    } else {
      frameworks[place.entry].*key.of_framework = value;
    }
  }
  for (const cost::DeviceTrainingFactors& entry : devices) {
    replace(all.devices, entry, &cost::DeviceTrainingFactors::device);
  }
  for (const cost::FrameworkTrainingConstants& entry : frameworks) {
    replace(all.frameworks, entry, &cost::FrameworkTrainingConstants::framework);
  }
  return all;
}

}  // namespace stepwright::learn
