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

/// A constant of the training conditions of one device or one framework.
struct LearnableConstant {
  /// Key of the constant in files (docs/formats.md, "Conditions of training").
  std::string_view key;
  std::string of;  ///< Name of the device or framework.
  double value = 0;
};

/// The constants, as logarithms, of the training conditions on which the steps of some jobs depend:
/// those of each device and framework of these jobs. The prior: the conditions as they are; the
/// width of each key is the error that published runs show when the key is fitted without their
/// framework or generation. Constants with the same key share a part of their variance, since they
/// belong to one person's cluster, and so do all rates of devices.
class Learnable {
 public:
  Learnable(const cost::TrainingConditions& start, std::span<const plan::Job* const> jobs);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(places_.size()); }
  [[nodiscard]] const Distribution& prior() const { return prior_; }
  /// Returns the conditions before any run.
  [[nodiscard]] const cost::TrainingConditions& start() const { return start_; }
  /// Returns constant number `index` at this logarithm; `before`: its value before any run.
  [[nodiscard]] LearnableConstant constant(Eigen::Index index, double logarithm) const;
  [[nodiscard]] const LearnableConstant& before(Eigen::Index index) const;
  [[nodiscard]] bool of_device(Eigen::Index index) const;
  /// True if a job's steps can depend on a constant.
  [[nodiscard]] bool depends_on_constant(Eigen::Index index, const plan::Job& job) const;
  /// Returns all conditions, with these constants set to these logarithms.
  [[nodiscard]] cost::TrainingConditions at(const Eigen::VectorXd& logarithms,
                                            std::string source) const;

 private:
  struct Place {
    int key = 0;            ///< Index of the constant's key among all keys that can be learned.
    std::size_t entry = 0;  ///< Index of its entry among the devices or frameworks.
    LearnableConstant before;
  };
  void add_places();
  void set_prior();

  cost::TrainingConditions start_;
  std::vector<cost::DeviceConditions> devices_;
  std::vector<cost::FrameworkConditions> frameworks_;
  std::vector<Place> places_;
  Distribution prior_;
};

}  // namespace stepwright::learn
