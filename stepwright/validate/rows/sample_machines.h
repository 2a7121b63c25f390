#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/cost/compute_cost.h"
#include "stepwright/fit/samples/collective_sample.h"
#include "stepwright/fit/samples/operator_sample.h"

namespace stepwright::validate {

/// A device with the cost models that predict measured times of single operators on it.
class OperatorTimeMachine {
 public:
  /// `profile`: measured times of operators that take precedence over the device's built-in ones;
  /// null: none.
  OperatorTimeMachine(const cluster::DeviceModel& device,
                      std::shared_ptr<const cost::OperatorProfile> profile);

  [[nodiscard]] const std::string& device() const { return device_.name; }
  /// Returns the cost model that uses only the given attention kernel; it is built once for each
  /// kernel.
  [[nodiscard]] const cost::ComputationCostModel& cost(cluster::AttentionKernel kernel);
  /// Returns a warning about the predicted time of an operator's pass: no measurements were fitted
  /// for it, those of another device were used, or its size is outside of the fitted range. Empty:
  /// no warning.
  [[nodiscard]] std::string operator_time_warning(const fit::OperatorSample& sample,
                                                  cost::OperatorPass pass) const;

 private:
  cluster::DeviceModel device_;
  std::shared_ptr<const cost::OperatorProfile> own_;
  std::vector<const cost::OperatorProfile*> profiles_;
  std::map<cluster::AttentionKernel, cost::ComputationCostModel> costs_;
};

/// Finds the machine that a table of operator times names: an operator profile, a device, a
/// cluster, or a file with a profile or a cluster.
class OperatorMachineFinder {
 public:
  /// Returns the machine with this name; the same object for equal names. Fails with `kInput` if it
  /// does not exist.
  OperatorTimeMachine& machine_by_name(const std::string& name);

 private:
  std::map<std::string, OperatorTimeMachine> machines_;
};

/// Finds the machine that a table of collective times names: a machine with measured constants, a
/// cluster, a device, or a file with a profile of collectives or a cluster.
class CollectiveMachineFinder {
 public:
  /// Returns the machine with this name; null if the name is empty. Fails with `kInput` if it does
  /// not exist.
  const fit::SampledMachine* machine_by_name(const std::string& name);
  fit::SamplePredictor& predictor() { return predictor_; }

 private:
  fit::SampledMachine described(const std::string& name);
  fit::SampledMachine of_file(const std::string& path);
  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
  std::deque<YamlJsonDocument> profiles_;
  std::map<std::string, fit::SampledMachine> machines_;
  fit::SamplePredictor predictor_;
};

}  // namespace stepwright::validate
