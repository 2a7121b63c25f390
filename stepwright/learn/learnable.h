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

/// A constant of the conditions of training, of one device or of one framework.
struct LearnableConstant {
  std::string_view key;  ///< Key of docs/formats.md, "Conditions of training".
  std::string of;        ///< Name of the device or framework.
  double value = 0;
};

/// The constants of conditions that the steps of some jobs depend on, as logarithms: those of each
/// device and of each framework among them. What is believed before any run: the conditions as they
/// are, with a width for each key by which published runs miss it where it was fitted without their
/// framework or generation; places of one key share a part of it, since they are of one person's
/// cluster, and so do all rates of devices.
class Learnable {
 public:
  Learnable(const cost::TrainingConditions& start, std::span<const plan::Job* const> jobs);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(places_.size()); }
  [[nodiscard]] const Distribution& prior() const { return prior_; }
  /// The conditions before any run.
  [[nodiscard]] const cost::TrainingConditions& start() const { return start_; }
  /// The constants at these logarithms, and before.
  [[nodiscard]] LearnableConstant constant(Eigen::Index index, double logarithm) const;
  [[nodiscard]] const LearnableConstant& before(Eigen::Index index) const;
  [[nodiscard]] bool of_device(Eigen::Index index) const;
  /// Whether a job's steps can depend on a constant.
  [[nodiscard]] bool concerns(Eigen::Index index, const plan::Job& job) const;
  /// All conditions, with the entries of these places at these logarithms.
  [[nodiscard]] cost::TrainingConditions at(const Eigen::VectorXd& logarithms,
                                            std::string source) const;

 private:
  struct Place {
    int key = 0;            ///< Index among all keys that can be learned.
    std::size_t entry = 0;  ///< Index among the devices or frameworks.
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
