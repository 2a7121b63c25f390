#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// Builds a template by hand; tensors have the given bytes.
class Piece {
 public:
  step::TensorId tensor(std::int64_t bytes,
                        step::TensorPurpose kind = step::TensorPurpose::kActivation,
                        bool routed = false);
  step::TensorId input(std::int64_t bytes,
                       step::TensorPurpose kind = step::TensorPurpose::kActivation);
  step::TensorId restored(std::int64_t bytes,
                          step::TensorPurpose kind = step::TensorPurpose::kActivation);
  Piece& op(const std::vector<step::TensorId>& reads, const std::vector<step::TensorId>& writes,
            step::DeviceStream stream = step::DeviceStream::kCompute);
  Piece& output(step::TensorId id);
  Piece& save(step::TensorId id);
  [[nodiscard]] const step::OperatorTemplate& get() const { return piece_; }

 private:
  step::OperatorTemplate piece_;
};

/// Makes an item of a template that starts after the given items and takes its inputs from items'
/// outputs.
step::TemplateSequenceItem item(step::TemplateId which, std::vector<std::int32_t> after = {},
                                std::vector<step::OperatorTemplateInputSource> inputs = {});

/// Returns a pipeline of random templates under 1F1B: layers, forward and backward, with gathers
/// and reductions that overlap at random.
step::StepProgram random_program(std::mt19937& random);

}  // namespace stepwright::testing
