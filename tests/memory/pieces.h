#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// Writes a template by hand. Tensors have `bytes` bytes.
class Piece {
 public:
  TensorId tensor(std::int64_t bytes, TensorKind kind = TensorKind::kActivation,
                  bool routed = false);
  TensorId input(std::int64_t bytes, TensorKind kind = TensorKind::kActivation);
  TensorId restored(std::int64_t bytes, TensorKind kind = TensorKind::kActivation);
  Piece& op(const std::vector<TensorId>& reads, const std::vector<TensorId>& writes,
            Stream stream = Stream::kCompute);
  Piece& output(TensorId id);
  Piece& save(TensorId id);
  [[nodiscard]] const Template& get() const { return piece_; }

 private:
  Template piece_;
};

/// An item of a template that starts after items and takes its inputs from outputs of items.
Item item(TemplateId which, std::vector<std::int32_t> after = {}, std::vector<Source> inputs = {});

/// A pipeline of random templates under 1F1B: layers forward and backward with gathers and
/// reductions that overlap by chance.
StepProgram random_program(std::mt19937& random);

}  // namespace stepwright::testing
