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

/// Returns the family of the weights next to a `config.json`. Fails with `kUnsupported` and the
/// list of supported families for any other family and for the text part of a multimodal model.
Family weights_family(const Document& config);

/// Returns the family of a directory. Fails with `kInput` if its `config.json` describes another
/// model than `model`.
Family checked_family(const std::filesystem::path& directory, const model::Architecture& model);

/// The weights of a Hugging Face directory (`config.json` with `model.safetensors`, or with an
/// index of several files), read as Stepwright's parameters. Files are mapped into memory: only the
/// parts that are read are loaded.
class HuggingFaceWeights {
 public:
  /// Opens the weights of a model. Fails with `kInput`, with file, tensor and what is allowed, if
  /// config.json describes another model, if a tensor is missing, has another shape or belongs to
  /// no parameter, or if a file is damaged. Fails with `kUnsupported` for a family that
  /// `weight_families` lacks and for numbers other than fp64, fp32, fp16 and bf16.
  HuggingFaceWeights(const std::filesystem::path& directory, const model::Architecture& model);

  /// Opens the adapters in a folder of peft (`adapter_config.json` with
  /// `adapter_model.safetensors`) for the weights of the directory `base`. Fails like the
  /// constructor; with `kInput` if the model has no adapters or other ones than the folder; with
  /// `kUnsupported` for other kinds than plain LoRA and for parts that share an A.
  static HuggingFaceWeights adapters(const std::filesystem::path& directory,
                                     const std::filesystem::path& base,
                                     const model::Architecture& model);

  /// Reads elements of a Stepwright parameter, flattened as in checkpoints, starting with element
  /// `begin`.
  void read(std::string_view own, std::int64_t begin, std::span<double> out) const;

 private:
  HuggingFaceWeights() = default;

  /// A run of rows of a parameter and its position in a tensor.
  struct Part {
    std::int64_t row = 0;  ///< First row in the parameter.
    std::int64_t count = 0;
    std::size_t tensor = 0;        ///< Index of the tensor in `tensors_`.
    std::int64_t foreign_row = 0;  ///< First row in the tensor.
    std::int64_t step = 1;         ///< Number of tensor rows from one row of the run to the next.
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
