#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/checkpoint/safetensors.h"
#include "stepwright/core/document.h"
#include "stepwright/huggingface/families.h"
#include "stepwright/huggingface/numbers.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// The family of the weights beside a `config.json`. Fails with `kUnsupported`, naming the known
/// ones, for a family without names and for the text part of a multimodal model.
Family weights_family(const Document& config);

/// The family of a directory whose `config.json` describes this model; fails with `kInput` where it
/// describes another.
Family checked_family(const std::filesystem::path& directory, const model::Architecture& model);

/// The weights of a Hugging Face directory (`config.json` with `model.safetensors`, or with an
/// index of several), as parameters of ours. Files are mapped: only what is read is loaded.
class HuggingFaceWeights {
 public:
  /// Opens the weights of a model. Fails with `kInput`, naming file, tensor and what is allowed,
  /// when the directory's config.json describes another model, a tensor is missing, has another
  /// shape or belongs to nothing, or a file is damaged; with `kUnsupported` for a family without
  /// names (`weight_families`) and for numbers of other types than fp64, fp32, fp16 and bf16.
  HuggingFaceWeights(const std::filesystem::path& directory, const model::Architecture& model);

  /// Opens the adapters of a folder of peft (`adapter_config.json` with
  /// `adapter_model.safetensors`) beside weights of the directory `base`. Fails as above, with
  /// `kInput` where the model has no adapters or others than the folder, with `kUnsupported` for
  /// what is no plain LoRA and for parts that share an A.
  static HuggingFaceWeights adapters(const std::filesystem::path& directory,
                                     const std::filesystem::path& base,
                                     const model::Architecture& model);

  /// The elements of one of our parameters, flattened as in checkpoints, from `begin` on.
  void read(std::string_view own, std::int64_t begin, std::span<double> out) const;

 private:
  HuggingFaceWeights() = default;

  /// Rows of a parameter that stand together in a tensor.
  struct Part {
    std::int64_t row = 0;  ///< First row of the parameter.
    std::int64_t count = 0;
    std::size_t tensor = 0;        ///< Index of the tensor in `tensors_`.
    std::int64_t foreign_row = 0;  ///< First row of the tensor.
    std::int64_t step = 1;         ///< Rows from one row of the run to the next in the tensor.
  };
  struct Opened {
    ForeignTensor tensor;
    NumberType type{};
    std::span<const std::byte> bytes = {};
  };
  using Places = std::map<std::string, std::size_t, std::less<>>;

  void open(const std::filesystem::path& directory);
  void take(const checkpoint::SafetensorsFile& file, const Family& family, const Places& places);
  void check_found(const std::filesystem::path& directory) const;
  void add_parts();

  std::deque<checkpoint::SafetensorsFile> files_;
  std::vector<Opened> tensors_;
  std::map<std::string, std::vector<Part>, std::less<>> parts_;
};

}  // namespace stepwright::huggingface
