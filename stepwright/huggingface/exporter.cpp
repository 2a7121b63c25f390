#include "stepwright/huggingface/exporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "stepwright/checkpoint/shards.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/unfinished_path.h"
#include "stepwright/huggingface/adapted_rows.h"
#include "stepwright/huggingface/adapter_tensors.h"
#include "stepwright/huggingface/config_writer.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/huggingface/weights.h"
#include "stepwright/plan/files.h"

namespace stepwright::huggingface {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestConfig = std::size_t{64} << 20U;  // The limit of any document.

/// Returns the family of a base directory; without a base, the first family that expresses the
/// model.
HuggingFaceWeightFamily family_beside(const fs::path& base, const model::ModelArchitecture& model) {
  return base.empty() ? huggingface_family_of_model(model) : weight_format_of_folder(base, model);
}

/// The tensors of one output file.
struct OutFile {
  std::string name;
  std::vector<HuggingFaceTensor> tensors;
  std::int64_t bytes = 0;
};

class Exporter {
 public:
  Exporter(const fs::path& checkpoint, const HuggingFaceExportOptions& options)
      : options_(options), reader_(checkpoint), model_(model_of(reader_)) {
    const auto stored = find_weight_number_type(kSafetensorsTypes, reader_.index().dtype);
    if (!stored) {
      fail_input(fmt::format("{}: its states are {}, no type of weights", checkpoint.string(),
                             reader_.index().dtype));
    }
    stored_ = *stored;
    type_ = options.type.value_or(stored_);
    check_form(checkpoint);
    for (const checkpoint::CheckpointFileEntry& file : reader_.index().files)
      reader_.verify_shard_file(file);
  }

  void write(const fs::path& out) {
    const fs::path base = base_directory();
    const HuggingFaceWeightFamily family = family_beside(base, model_);
    if (options_.form == ExportedWeightForm::kAdapters) return write_adapters(out, family, base);
    nlohmann::ordered_json config = nlohmann::ordered_json::object();
    if (options_.form == ExportedWeightForm::kMerged) {
      base_.emplace(base, model_);
      if (model_.adapters) adapted_ = lora_adapted_weights(model_);
      config = config_of(base);
    } else {
      config = huggingface_config_json(model_, family);
    }
    const std::vector<OutFile> files = divided(huggingface_tensors(model_, family));
    for (const OutFile& file : files) write_file(out / file.name, file);
    if (files.size() > 1) write_index(out, files);
    config["torch_dtype"] = name_of(kTorchTypes, type_);
    write_text(out / "config.json", config);
  }

 private:
  void check_form(const fs::path& checkpoint) const {
    const bool part = model_.has_frozen_weights();
    if (options_.form == ExportedWeightForm::kAdapters && !model_.adapters) {
      fail_input(fmt::format("{}: its plan has no adapters", checkpoint.string()));
    }
    if (options_.form == ExportedWeightForm::kMerged && !part) {
      fail_input(fmt::format("{}: its plan trains all weights, and nothing is merged",
                             checkpoint.string()));
    }
    if (options_.form == ExportedWeightForm::kWeights && part) {
      fail_input(
          fmt::format("{}: holds what its plan trains, and not what is frozen: --merge BASE takes "
                      "that from the "
                      "directory of the base",
                      checkpoint.string()));
    }
  }

  /// Returns the directory of the frozen weights: the one in the options, else the one from which
  /// the run read them if it still exists; empty: unknown.
  [[nodiscard]] fs::path base_directory() const {
    if (options_.form == ExportedWeightForm::kWeights || !options_.base.empty())
      return options_.base;
    const fs::path then = reader_.index().run.base;
    return !then.empty() && path_exists(then / "config.json") ? then : fs::path();
  }

  /// Returns the base's configuration without the type of its numbers.
  static nlohmann::ordered_json config_of(const fs::path& base) {
    const std::string text = read_file_or_standard_input(base / "config.json", kLargestConfig);
    nlohmann::ordered_json config = nlohmann::ordered_json::parse(text);
    config.erase("dtype");
    config.erase("quantization_config");
    return config;
  }

  void write_adapters(const fs::path& out, const HuggingFaceWeightFamily& family,
                      const fs::path& base) {
    OutFile file{.name = "adapter_model.safetensors"};
    const std::vector<PeftAdapterTensors> adapters = peft_adapter_tensors(model_, family);
    for (const PeftAdapterTensors& one : adapters) {
      file.tensors.push_back(one.down);
      file.tensors.push_back(one.up);
    }
    write_file(out / file.name, file);
    write_text(out / "adapter_config.json",
               peft_adapter_config_json(model_, family, adapters, base.string()));
  }

  /// Reads the model. If it states no longest sequence, it gets the run's sequence length, because
  /// files must state one.
  static model::ModelArchitecture model_of(const checkpoint::CheckpointShardReader& reader) {
    const checkpoint::CheckpointRunFacts& run = reader.index().run;
    const YamlJsonDocument plan = YamlJsonDocument::parse(
        run.plan, (reader.directory() / checkpoint::kCheckpointIndexName).string() + ": plan");
    model::ModelArchitecture model = plan::read_plan(plan, reader.directory()).job.model;
    if (model.positions == 0) model.positions = run.length;
    return model;
  }

  [[nodiscard]] std::int64_t bytes_of(const HuggingFaceTensor& tensor) const {
    return tensor.row_count() * tensor.columns *
           checkpoint::element_bytes(name_of(kSafetensorsTypes, type_));
  }

  [[nodiscard]] std::vector<OutFile> divided(std::vector<HuggingFaceTensor> tensors) const {
    std::vector<OutFile> files(1);
    for (HuggingFaceTensor& tensor : tensors) {
      const std::int64_t bytes = bytes_of(tensor);
      if (files.back().bytes > 0 && files.back().bytes + bytes > options_.shard_bytes) {
        files.emplace_back();
      }
      files.back().bytes += bytes;
      files.back().tensors.push_back(std::move(tensor));
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      files[i].name = files.size() == 1
                          ? "model.safetensors"
                          : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files.size());
    }
    return files;
  }

  void write_file(const fs::path& path, const OutFile& out) {
    std::vector<checkpoint::SafetensorsEntry> entries;
    for (const HuggingFaceTensor& tensor : out.tensors) {
      entries.push_back({.name = tensor.name,
                         .dtype = std::string(name_of(kSafetensorsTypes, type_)),
                         .shape = tensor.shape()});
    }
    checkpoint::DurableFile file(path);
    file.write(checkpoint::build_safetensors_header(entries, {{"format", "pt"}}));
    for (const HuggingFaceTensor& tensor : out.tensors) {
      for (const HuggingFaceTensor& block : blocks_of(tensor)) file.write(numbers_of(block));
    }
    file.finish();
  }

  /// Returns the elements of a tensor's runs, in order, in the checkpoint's number type.
  std::vector<std::byte> held_of(const HuggingFaceTensor& tensor) {
    const checkpoint::CheckpointTensorEntry& own = indexed(tensor);
    std::vector<checkpoint::StridedShardPiece> pieces;
    for (const ParameterRowRun& run : tensor.rows) {
      checkpoint::append_element_run(pieces, run.begin * tensor.columns,
                                     run.count * tensor.columns);
    }
    const std::int64_t elements = tensor.row_count() * tensor.columns;
    std::vector<std::byte> held(
        static_cast<std::size_t>(elements * checkpoint::element_bytes(reader_.index().dtype)));
    reader_.read_tensor_state(own, checkpoint::kCheckpointWeightsName, pieces, held);
    return held;
  }

  std::vector<double> values_of(const HuggingFaceTensor& tensor) {
    const std::vector<std::byte> held = held_of(tensor);
    std::vector<double> values(static_cast<std::size_t>(tensor.row_count() * tensor.columns));
    read_numbers_as_doubles({.bytes = held, .type = stored_, .first = 0, .stride = 1}, values);
    return values;
  }

  /// Returns the values of a tensor, from the checkpoint or, for frozen weights, from the base.
  std::vector<double> whole_values(const HuggingFaceTensor& tensor) {
    if (reader_.find(tensor.own) != nullptr) return values_of(tensor);
    std::vector<double> values(static_cast<std::size_t>(tensor.row_count() * tensor.columns));
    std::span<double> rest = values;
    for (const ParameterRowRun& run : tensor.rows) {
      const auto count = static_cast<std::size_t>(run.count * tensor.columns);
      base_->read_parameter_elements(tensor.own, run.begin * tensor.columns, rest.first(count));
      rest = rest.subspan(count);
    }
    return values;
  }

  /// Adds the adapter's product (alpha / rank B A) to rows of a weight, starting with row `begin`.
  void add(const LoraAdaptedWeight& weight, const LoraAdaptedWeightRows& rows, std::int64_t begin,
           std::int64_t columns, std::span<double> sum) {
    const std::int64_t rank = model_.adapters->rank;
    const std::int64_t count = std::ssize(sum) / columns;
    const std::vector<double> down =
        values_of({.own = weight.down, .rows = {{rows.down, rank}}, .columns = columns});
    const std::vector<double> up = values_of(
        {.own = weight.up, .rows = {{rows.up + begin - rows.begin, count}}, .columns = rank});
    const double scale = model_.adapters->scale();
    const auto width = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < up.size(); ++i) {
      const std::span<double> row = sum.subspan(i / static_cast<std::size_t>(rank) * width, width);
      const std::size_t first = i % static_cast<std::size_t>(rank) * width;
      for (std::size_t k = 0; k < width; ++k) row[k] += scale * up[i] * down[first + k];
    }
  }

  /// Returns the values of a tensor with the adapter's product added.
  std::vector<double> merged_values(const HuggingFaceTensor& tensor) {
    std::vector<double> values = whole_values(tensor);
    const auto weight = adapted_.find(tensor.own);
    if (weight == adapted_.end()) return values;
    std::span<double> rest = values;
    for (const ParameterRowRun& run : tensor.rows) {
      for (const LoraAdaptedWeightRows& rows : weight->second.rows) {
        const std::int64_t begin = std::max(run.begin, rows.begin);
        const std::int64_t end = std::min(run.begin + run.count, rows.begin + rows.count);
        if (begin >= end) continue;
        add(weight->second, rows, begin, tensor.columns,
            rest.subspan(static_cast<std::size_t>((begin - run.begin) * tensor.columns),
                         static_cast<std::size_t>((end - begin) * tensor.columns)));
      }
      rest = rest.subspan(static_cast<std::size_t>(run.count * tensor.columns));
    }
    return values;
  }

  /// Splits a tensor into its blocks, so that one block at a time is in memory.
  static std::vector<HuggingFaceTensor> blocks_of(const HuggingFaceTensor& tensor) {
    HuggingFaceTensor block = tensor;
    block.blocks = 1;
    block.rows.clear();
    std::vector<HuggingFaceTensor> blocks(static_cast<std::size_t>(tensor.blocks), block);
    const std::int64_t height = tensor.row_count() / tensor.blocks;
    for (ParameterRowRun run : tensor.rows) {
      const std::int64_t which = run.place / height;
      run.place %= height;
      blocks[static_cast<std::size_t>(which)].rows.push_back(run);
    }
    return blocks;
  }

  /// True if the file stores the tensor's numbers in the order of its runs.
  static bool in_order(const HuggingFaceTensor& tensor) {
    std::int64_t place = 0;
    for (const ParameterRowRun& run : tensor.rows) {
      if (run.place != place || run.step != 1) return false;
      place += run.count;
    }
    return !tensor.transposed;
  }

  /// Reorders values, which come run by run, into the order of the file.
  static std::vector<double> placed(const HuggingFaceTensor& tensor,
                                    const std::vector<double>& values) {
    std::vector<double> out(values.size());
    std::size_t next = 0;
    for (const ParameterRowRun& run : tensor.rows) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        const std::int64_t first = tensor.flat_element_index(run.place + i * run.step, 0);
        for (std::int64_t column = 0; column < tensor.columns; ++column) {
          out[static_cast<std::size_t>(first + column * tensor.column_stride())] = values[next++];
        }
      }
    }
    return out;
  }

  /// Returns the bytes of a one-block tensor in the order and number type of the file.
  std::vector<std::byte> numbers_of(const HuggingFaceTensor& tensor) {
    if (!base_ && type_ == stored_ && in_order(tensor)) return held_of(tensor);
    std::vector<double> values = base_ ? merged_values(tensor) : values_of(tensor);
    if (!in_order(tensor)) values = placed(tensor, values);
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(bytes_of(tensor)));
    append_rounded_numbers(bytes, type_, values);
    return bytes;
  }

  [[nodiscard]] const checkpoint::CheckpointTensorEntry& indexed(
      const HuggingFaceTensor& tensor) const {
    const checkpoint::CheckpointTensorEntry* own = reader_.find(tensor.own);
    if (own == nullptr) {
      fail_input(fmt::format("{}: has no parameter '{}', which its plan's model has",
                             reader_.directory().string(), tensor.own));
    }
    for (const ParameterRowRun& run : tensor.rows) {
      if ((run.begin + run.count) * tensor.columns <= own->elements()) continue;
      fail_input(fmt::format("{}: '{}' has the shape [{}], too small for its plan's model",
                             reader_.directory().string(), tensor.own,
                             fmt::join(own->shape, ", ")));
    }
    return *own;
  }

  static void write_text(const fs::path& path, const nlohmann::ordered_json& json) {
    checkpoint::DurableFile file(path);
    file.write(json.dump(2) + "\n");
    file.finish();
  }

  static void write_index(const fs::path& out, const std::vector<OutFile>& files) {
    nlohmann::ordered_json index = nlohmann::ordered_json::object();
    std::int64_t total = 0;
    for (const OutFile& file : files) {
      total += file.bytes;
      for (const HuggingFaceTensor& tensor : file.tensors) index[tensor.name] = file.name;
    }
    write_text(out / "model.safetensors.index.json",
               {{"metadata", {{"total_size", total}}}, {"weight_map", index}});
  }

  HuggingFaceExportOptions options_;
  checkpoint::CheckpointShardReader reader_;
  model::ModelArchitecture model_;
  WeightNumberType stored_{};
  WeightNumberType type_{};
  /// Adapted weights of the model; empty unless adapters are merged.
  std::map<std::string, LoraAdaptedWeight, std::less<>> adapted_;
  /// Frozen weights that adapters are merged into; nullopt: none are merged.
  std::optional<HuggingFaceWeights> base_;
};

}  // namespace

void check_lora_exportable(const model::ModelArchitecture& model, const fs::path& base) {
  peft_adapter_tensors(model, family_beside(base, model));
}

void export_huggingface(const fs::path& checkpoint, const fs::path& out,
                        const HuggingFaceExportOptions& options) {
  Exporter exporter(checkpoint, options);
  check_path_absent(out);
  fs::path partial = out;
  if (!partial.has_filename()) partial = partial.parent_path();
  partial += ".partial";
  std::error_code error;
  if (fs::exists(fs::symlink_status(partial, error))) {
    fail_input(fmt::format("{}: left from a conversion that did not end; remove it first",
                           partial.string()));
  }
  const UnfinishedPath unfinished(partial);
  fs::create_directories(partial, error);
  if (!error) {
    try {
      exporter.write(partial);
    } catch (...) {
      fs::remove_all(partial, error);
      throw;
    }
    fs::rename(partial, out, error);
  }
  if (error) fail_to_write(out, error.message());
}

}  // namespace stepwright::huggingface
