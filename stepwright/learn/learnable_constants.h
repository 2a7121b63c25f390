#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/learn/posterior.h"
#include "stepwright/plan/job.h"

namespace stepwright::learn {

/// A constant of the cost model that belongs to one device or one framework and can be learned from
/// runs: its key, owner and value.
struct LearnableConstant {
  /// Key of the constant in files of training conditions (fitted constants of training runs;
  /// docs/formats.md, "Conditions of training").
  std::string_view key;
  std::string of;  ///< Name of the device or framework that the constant belongs to.
  double value = 0;
};

/// The constants, as logarithms, that can be learned from runs of given jobs: those of the jobs'
/// devices and frameworks. Their prior is centred at the current values; its widths are the errors
/// that published runs show without their own framework or generation. Constants with equal keys
/// are correlated, since they belong to one cluster.
class LearnableConstants {
 public:
  LearnableConstants(const cost::TrainingConditions& start, std::span<const plan::Job* const> jobs);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(places_.size()); }
  [[nodiscard]] const LogNormalConstantDistribution& prior() const { return prior_; }
  /// Returns the training conditions (constants of devices and frameworks) as they were before
  /// learning from any run.
  [[nodiscard]] const cost::TrainingConditions& conditions_before_learning() const {
    return start_;
  }
  /// Returns the learnable constant at `index` with the value e^`logarithm`; `before` returns it
  /// with its value before learning.
  [[nodiscard]] LearnableConstant constant_with_logarithm(Eigen::Index index,
                                                          double logarithm) const;
  [[nodiscard]] const LearnableConstant& before(Eigen::Index index) const;
  [[nodiscard]] bool of_device(Eigen::Index index) const;
  /// True if the step time of a job can depend on the learnable constant at `index`.
  [[nodiscard]] bool depends_on_constant(Eigen::Index index, const plan::Job& job) const;
  /// Returns the training conditions (constants of devices and frameworks) with the learnable ones
  /// set to e^`logarithms`. `source`: text that the conditions state as their origin.
  [[nodiscard]] cost::TrainingConditions at(const Eigen::VectorXd& logarithms,
                                            std::string source) const;

 private:
  struct Place {
    /// Index of the constant's key in the list of all keys of constants that can be learned.
    int key = 0;
    /// Index of the constant's device or framework among those of the jobs.
    std::size_t entry = 0;
    LearnableConstant before;
  };
  void add_places();
  void set_prior();

  cost::TrainingConditions start_;
  std::vector<cost::DeviceTrainingFactors> devices_;
  std::vector<cost::FrameworkTrainingConstants> frameworks_;
  std::vector<Place> places_;
  LogNormalConstantDistribution prior_;
};

}  // namespace stepwright::learn
