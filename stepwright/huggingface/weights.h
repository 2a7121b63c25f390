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

/// Returns how the weights next to a `config.json` are stored, by its `model_type`. Fails with
/// `kUnsupported`, listing the supported types, for any other type and for the text part of a
/// multimodal model.
HuggingFaceWeightFamily weight_format_of_config(const YamlJsonDocument& config);

/// Returns how the weights in a Hugging Face directory are stored. Fails with `kInput` if its
/// `config.json` describes another model than `model`.
HuggingFaceWeightFamily weight_format_of_folder(const std::filesystem::path& directory,
                                                const model::ModelArchitecture& model);

/// The weights in a Hugging Face directory (`config.json` and safetensors files), read as
/// Stepwright's parameters. Files are mapped into memory, so that only what is read is loaded.
class HuggingFaceWeights {
 public:
  /// Opens the weights of a model. Fails with `kInput` if config.json describes another model, if a
  /// tensor is missing, has a wrong shape or belongs to no parameter, or if a file is damaged; with
  /// `kUnsupported` for an unsupported `model_type` or number type.
  HuggingFaceWeights(const std::filesystem::path& directory, const model::ModelArchitecture& model);

  /// Opens LoRA adapters in a directory of the peft library (`adapter_config.json`,
  /// `adapter_model.safetensors`) for the base weights in the directory `base`. Fails with `kInput`
  /// if they do not suit the model; with `kUnsupported` for anything but plain LoRA and for parts
  /// that share an A.
  static HuggingFaceWeights open_lora_adapters(const std::filesystem::path& directory,
                                               const std::filesystem::path& base,
                                               const model::ModelArchitecture& model);

  /// Reads elements of a Stepwright parameter (flattened as in checkpoints) from element `begin`
  /// on, as many as `out` holds.
  void read_parameter_elements(std::string_view own, std::int64_t begin,
                               std::span<double> out) const;

 private:
  HuggingFaceWeights() = default;

  /// `count` consecutive rows of a Stepwright parameter and their position in a Hugging Face
  /// tensor.
  struct PlacedParameterRows {
    std::int64_t row = 0;  ///< Index of the first row in the Stepwright parameter.
    std::int64_t count = 0;
    /// Index in `tensors_` of the Hugging Face tensor that holds these rows of a parameter.
    std::size_t tensor = 0;
    /// Index, in the Hugging Face tensor, of the first of these parameter rows.
    std::int64_t foreign_row = 0;
    std::int64_t step = 1;  ///< Distance in tensor rows between neighbouring rows of the parameter.
  };
  struct Opened {
    HuggingFaceTensor tensor;
    WeightNumberType type{};
    std::span<const std::byte> bytes = {};
  };
  using Places = std::map<std::string, std::size_t, std::less<>>;

  void open(const std::filesystem::path& directory);
  void take(const checkpoint::SafetensorsFile& file, const HuggingFaceWeightFamily& family,
            const Places& places);
  void check_found(const std::filesystem::path& directory) const;
  void add_parts();

  std::deque<checkpoint::SafetensorsFile> files_;
  std::vector<Opened> tensors_;
  std::map<std::string, std::vector<PlacedParameterRows>, std::less<>> parts_;
};

}  // namespace stepwright::huggingface
