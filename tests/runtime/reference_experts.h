#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <utility>

#include "stepwright/plan/job.h"
#include "tests/runtime/reference_mixers.h"

namespace stepwright::testing {

/// The feed-forward part of a layer, written with operations whose gradients autograd knows.
class ReferenceFeedForward {
 public:
  /// Returns the result of the adapters for an input, given the name of the weight in the layer, or
  /// in one expert (-1: not in an expert).
  using Adapted =
      std::function<at::Tensor(const at::Tensor& x, const std::string& name, std::int64_t expert)>;

  ReferenceFeedForward(const plan::Job& job, LayerParameters parameter, Adapted adapted)
      : job_(job), m_(job.model), p_(std::move(parameter)), adapted_(std::move(adapted)) {}

  /// Returns two products and the activation between them; `name`: "mlp" or "shared".
  [[nodiscard]] at::Tensor mlp(const at::Tensor& x, const std::string& name) const;

  /// The output [batch, length, hidden] of the experts, and the number of rows sent to each.
  struct Mixture {
    at::Tensor out;
    at::Tensor counts;
  };
  /// Applies each expert to the rows routed to it, one expert after the other.
  [[nodiscard]] Mixture mixture(const at::Tensor& batch) const;

 private:
  [[nodiscard]] at::Tensor act(const at::Tensor& x) const;
  [[nodiscard]] at::Tensor gate(const at::Tensor& wide) const;
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const std::string& name) const;
  [[nodiscard]] at::Tensor of_groups(const at::Tensor& scores) const;
  [[nodiscard]] at::Tensor chosen(const at::Tensor& scores) const;
  [[nodiscard]] at::Tensor expert(const at::Tensor& rows, std::int64_t index) const;

  const plan::Job& job_;
  const model::ModelArchitecture& m_;
  LayerParameters p_;
  Adapted adapted_;
};

}  // namespace stepwright::testing
