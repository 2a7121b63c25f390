#include "stepwright/huggingface/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/checkpoint/plain_name.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/huggingface/adapter_tensors.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"

namespace stepwright::huggingface {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOneFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

/// Returns the files that an index of safetensors names.
std::set<std::string> indexed_files(const fs::path& path) {
  const YamlJsonDocument index = YamlJsonDocument::load(path);
  const DocumentNode root = index.root();
  const auto map = root.is_mapping() ? root.find("weight_map") : std::nullopt;
  if (!map || !map->is_mapping()) {
    root.fail("is not an index of safetensors files: it has no weight_map");
  }
  std::set<std::string> files;
  for (const auto& [tensor, file] : map->mapping_members()) {
    const std::string name = file.text();
    if (!checkpoint::is_plain_file_name(name)) {
      file.fail(fmt::format("'{}' is not a file in the folder of the index",
                            one_line_printable_text(name)));
    }
    files.insert(name);
  }
  return files;
}

/// Fails unless the configuration describes the model's adapters, as plain LoRA.
void check_adapters(const YamlJsonDocument& config, const model::ModelArchitecture& model) {
  const DocumentNode root = config.root();
  if (!model.adapters)
    fail_input(fmt::format("{}: the plan's job has no adapters", config.document_name()));
  const model::LoraAdapters& adapters = *model.adapters;
  if (const DocumentNode kind = root.get("peft_type"); kind.text() != "LORA") {
    kind.fail_unsupported("is only supported as LORA");
  }
  for (const char* key : {"use_dora", "use_rslora", "use_qalora"}) {
    const auto given = root.find(key);
    if (given && !given->is_null() && given->boolean()) given->fail_unsupported("is not read");
  }
  for (const char* key : {"rank_pattern", "alpha_pattern"}) {
    const auto given = root.find(key);
    if (given && !given->is_null() && given->size() > 0) given->fail_unsupported("is not read");
  }
  if (const auto given = root.find("alora_invocation_tokens"); given && !given->is_null()) {
    given->fail_unsupported("is not read");
  }
  // Methods that initialise adapters from the base's weights.
  static constexpr std::string_view kOfBase[] = {"pissa", "olora", "corda", "loftq"};
  const auto start = root.find("init_lora_weights");
  const std::string word = start && start->is_scalar() ? start->text() : "";
  if (std::ranges::any_of(kOfBase, [&](std::string_view own) { return word.starts_with(own); })) {
    start->fail_unsupported("changes the weights of the base, and is not read");
  }
  const auto check = [&](const char* key, double own) {
    const DocumentNode given = root.get(key);
    if (given.number() == own) return;
    given.fail(fmt::format("is not that of the plan's adapters, {:g}", own));
  };
  check("r", static_cast<double>(adapters.rank));
  check("lora_alpha", adapters.alpha);
}

/// Fails if two adapters in the folder would read the same A.
void check_apart(const std::vector<PeftAdapterTensors>& tensors) {
  std::set<std::pair<std::string, std::int64_t>> downs;
  for (const PeftAdapterTensors& one : tensors) {
    if (downs.emplace(one.down.own, one.down.rows.front().begin).second) continue;
    fail_unsupported(
        fmt::format("adapters.joined: parts of a product share an A, and '{}' has one of its own "
                    "in a folder of "
                    "peft",
                    one.weight));
  }
}

}  // namespace

HuggingFaceWeightFamily weight_format_of_config(const YamlJsonDocument& config) {
  const auto type = config.root().find("model_type");
  const HuggingFaceWeightFamily* family =
      type ? find_huggingface_weight_family(type->text()) : nullptr;
  if (family == nullptr || config.root().find("text_config")) {
    std::vector<std::string_view> known;
    for (const HuggingFaceWeightFamily& one : huggingface_weight_families())
      known.push_back(one.model_type);
    fail_unsupported(fmt::format("{}: weights of this family cannot be read (supported: {})",
                                 config.document_name(), join_with_commas(known)));
  }
  HuggingFaceWeightFamily own = *family;
  if (own.rotary == RotaryOrder::kPairsAsStated) {
    const auto stated = config.root().find("rope_interleave");
    const bool pairs = !stated || stated->is_null() || stated->boolean();
    own.rotary = pairs ? RotaryOrder::kPairs : RotaryOrder::kHalves;
  }
  return own;
}

HuggingFaceWeightFamily weight_format_of_folder(const fs::path& directory,
                                                const model::ModelArchitecture& model) {
  const YamlJsonDocument config = YamlJsonDocument::load(directory / "config.json");
  HuggingFaceWeightFamily family = weight_format_of_config(config);
  const std::vector<std::string> differ =
      differences_between_models(model::read_huggingface_config(config), model);
  if (!differ.empty()) {
    fail_input(fmt::format("{}: describes a different model than the plan: {}",
                           config.document_name(), fmt::join(differ, "; ")));
  }
  return family;
}

HuggingFaceWeights::HuggingFaceWeights(const fs::path& directory,
                                       const model::ModelArchitecture& model) {
  const HuggingFaceWeightFamily family = weight_format_of_folder(directory, model);
  Places places;
  for (HuggingFaceTensor& tensor : huggingface_tensors(model, family)) {
    places.emplace(tensor.name, tensors_.size());
    tensors_.push_back({std::move(tensor)});
  }
  open(directory);
  for (const checkpoint::SafetensorsFile& file : files_) take(file, family, places);
  check_found(directory);
  add_parts();
}

HuggingFaceWeights HuggingFaceWeights::open_lora_adapters(const fs::path& directory,
                                                          const fs::path& base,
                                                          const model::ModelArchitecture& model) {
  check_adapters(YamlJsonDocument::load(directory / "adapter_config.json"), model);
  const HuggingFaceWeightFamily family = weight_format_of_folder(base, model);
  HuggingFaceWeights weights;
  Places places;
  std::vector<PeftAdapterTensors> tensors = peft_adapter_tensors(model, family);
  check_apart(tensors);
  for (PeftAdapterTensors& one : tensors) {
    for (HuggingFaceTensor* tensor : {&one.down, &one.up}) {
      places.emplace(tensor->name, weights.tensors_.size());
      weights.tensors_.push_back({std::move(*tensor)});
    }
  }
  weights.files_.emplace_back(directory / "adapter_model.safetensors");
  weights.take(weights.files_.back(), family, places);
  weights.check_found(directory);
  weights.add_parts();
  return weights;
}

void HuggingFaceWeights::open(const fs::path& directory) {
  if (path_exists(directory / kOneFile)) {
    files_.emplace_back(directory / kOneFile);
  } else if (path_exists(directory / kIndexFile)) {
    for (const std::string& name : indexed_files(directory / kIndexFile)) {
      files_.emplace_back(directory / name);
    }
  } else {
    fail_input(fmt::format("{}: holds neither {} nor {} (other formats are not read)",
                           directory.string(), kOneFile, kIndexFile));
  }
}

void HuggingFaceWeights::take(const checkpoint::SafetensorsFile& file,
                              const HuggingFaceWeightFamily& family, const Places& places) {
  const std::string where = file.path().string();
  const std::string_view head =
      std::ranges::find(family.names, "head.weight", &HuggingFaceParameterNames::own)
          ->theirs.front();
  for (const auto& [stored_name, stored] : file.tensors()) {
    const std::string_view name = stored_name == family.head_alias ? head : stored_name;
    auto place = places.find(name);
    if (place == places.end()) place = places.find(fmt::format("{}{}", family.prefix, name));
    if (place == places.end()) {
      const bool derived = std::ranges::any_of(
          family.derived, [&](std::string_view ending) { return name.ends_with(ending); });
      // A tied model has no head of its own; some files repeat the embedding under its name.
      if (derived || name == head) continue;
      fail_input(fmt::format("{}: tensor '{}' belongs to nothing in the model (family {})", where,
                             stored_name, family.model_type));
    }
    Opened& opened = tensors_[place->second];
    if (!opened.bytes.empty()) {
      fail_input(fmt::format("{}: tensor '{}' occurs twice", where, stored_name));
    }
    if (stored.shape != opened.tensor.shape()) {
      fail_input(fmt::format("{}: tensor '{}' has the shape [{}], the model's has [{}]", where,
                             stored_name, fmt::join(stored.shape, ", "),
                             fmt::join(opened.tensor.shape(), ", ")));
    }
    const auto type = find_weight_number_type(kSafetensorsTypes, stored.dtype);
    if (!type) {
      fail_unsupported(
          fmt::format("{}: tensor '{}' is stored as {}; supported: F64, F32, F16, BF16", where,
                      stored_name, stored.dtype));
    }
    opened.type = *type;
    opened.bytes = file.bytes_of(stored);
  }
}

void HuggingFaceWeights::check_found(const fs::path& directory) const {
  for (const Opened& opened : tensors_) {
    if (!opened.bytes.empty()) continue;
    fail_input(fmt::format("{}: the tensor '{}' is missing (our {})", directory.string(),
                           opened.tensor.name, opened.tensor.own));
  }
}

void HuggingFaceWeights::add_parts() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    std::vector<PlacedParameterRows>& parts = parts_[tensors_[i].tensor.own];
    for (const ParameterRowRun& run : tensors_[i].tensor.rows) {
      parts.push_back({.row = run.begin,
                       .count = run.count,
                       .tensor = i,
                       .foreign_row = run.place,
                       .step = run.step});
    }
  }
  for (auto& [own, parts] : parts_) std::ranges::sort(parts, {}, &PlacedParameterRows::row);
}

void HuggingFaceWeights::read_parameter_elements(std::string_view own, std::int64_t begin,
                                                 std::span<double> out) const {
  const auto found = parts_.find(own);
  if (found == parts_.end()) {
    throw Error(ErrorKind::kRuntime, fmt::format("the weights have no parameter {}", own));
  }
  const std::vector<PlacedParameterRows>& parts = found->second;
  while (!out.empty()) {
    const HuggingFaceTensor& any = tensors_[parts.front().tensor].tensor;
    const std::int64_t row = begin / any.columns;
    const std::int64_t column = begin % any.columns;
    const PlacedParameterRows& part =
        *std::prev(std::ranges::upper_bound(parts, row, {}, &PlacedParameterRows::row));
    const Opened& opened = tensors_[part.tensor];
    const std::int64_t foreign = part.foreign_row + (row - part.row) * part.step;
    const std::int64_t count =
        std::min(any.columns - column, static_cast<std::int64_t>(out.size()));
    StridedNumbers run{.bytes = opened.bytes, .type = opened.type};
    run.first = opened.tensor.flat_element_index(foreign, column);
    run.stride = opened.tensor.column_stride();
    read_numbers_as_doubles(run, out.first(static_cast<std::size_t>(count)));
    out = out.subspan(static_cast<std::size_t>(count));
    begin += count;
  }
}

}  // namespace stepwright::huggingface
