#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <utility>

#include "stepwright/plan/job.h"
#include "tests/runtime/reference_mixers.h"

namespace stepwright::testing {

/// The feed-forward of a layer, by operations of which autograd knows the gradients.
class ReferenceFeedForward {
 public:
  /// Returns the result of the adapters for an input and the weight of that name in the layer, or
  /// in one expert (-1: none).
  using Adapted =
      std::function<at::Tensor(const at::Tensor& x, const std::string& name, std::int64_t expert)>;

  ReferenceFeedForward(const plan::Job& job, LayerParameters parameter, Adapted adapted)
      : job_(job), m_(job.model), p_(std::move(parameter)), adapted_(std::move(adapted)) {}

  /// Two products and what stands between; `name`: "mlp" or "shared".
  [[nodiscard]] at::Tensor mlp(const at::Tensor& x, const std::string& name) const;

  /// The result [batch, length, hidden] of experts, and how many rows each of them got.
  struct Mixture {
    at::Tensor out;
    at::Tensor counts;
  };
  /// Each expert works on the rows that chose it, one after the other.
  [[nodiscard]] Mixture mixture(const at::Tensor& batch) const;

 private:
  [[nodiscard]] at::Tensor act(const at::Tensor& x) const;
  [[nodiscard]] at::Tensor gate(const at::Tensor& wide) const;
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const std::string& name) const;
  [[nodiscard]] at::Tensor of_groups(const at::Tensor& scores) const;
  [[nodiscard]] at::Tensor chosen(const at::Tensor& scores) const;
  [[nodiscard]] at::Tensor expert(const at::Tensor& rows, std::int64_t index) const;

  const plan::Job& job_;
  const model::Architecture& m_;
  LayerParameters p_;
  Adapted adapted_;
};

}  // namespace stepwright::testing
