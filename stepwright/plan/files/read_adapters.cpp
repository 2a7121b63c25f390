#include "stepwright/plan/files/read_adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostAlpha = 1e9;

/// A word that names several targets, and those targets.
struct TargetGroup {
  std::string_view name;
  model::AdapterTargets targets;
};

model::AdapterTargets targets_of(std::initializer_list<model::LoraTargetProduct> list) {
  model::AdapterTargets targets;
  for (const model::LoraTargetProduct target : list) targets.set(model::place_of(target));
  return targets;
}

/// Returns the words of targets, those with the most targets first; `qkv` and `fc1` are products
/// that a model fuses.
std::vector<TargetGroup> target_words() {
  using enum model::LoraTargetProduct;
  std::vector<TargetGroup> words = {{"qkv", targets_of({kQuery, kKey, kValue})},
                                    {"fc1", targets_of({kGate, kUp})}};
  for (const auto& [target, name] : model::kAdapterTargetNames) {
    words.push_back({name, targets_of({target})});
  }
  return words;
}

/// Word for all targets that the model has.
constexpr std::string_view kAllTargets = "all";

model::AdapterTargets read_target(DocumentNode node, const model::AdapterTargets& possible) {
  std::vector<std::string_view> known = {kAllTargets};
  const std::vector<TargetGroup> words = target_words();
  for (const TargetGroup& word : words) known.push_back(word.name);
  const std::string text = node.text();
  if (text == kAllTargets) return possible;
  const auto found = std::ranges::find(words, text, &TargetGroup::name);
  if (found == words.end()) fail_unknown_word(node, known);
  const model::AdapterTargets targets = found->targets & possible;
  if (targets.any()) return targets;
  known.clear();
  for (const TargetGroup& word : words) {
    if ((word.targets & possible).any()) known.push_back(word.name);
  }
  node.fail(fmt::format("the model has no {} to adapt; it has {}", text, join_with_commas(known)));
}

model::AdapterTargets read_targets(DocumentNode node, const model::AdapterTargets& possible) {
  if (!node.is_sequence()) return read_target(node, possible);
  if (node.size() == 0) node.fail("must list targets: without one nothing would be trained");
  model::AdapterTargets targets;
  for (std::size_t i = 0; i < node.size(); ++i) targets |= read_target(node.at(i), possible);
  return targets;
}

/// Fails if a joined adapter covers some parts of a fused product but not all.
void check_joined(DocumentNode node, const model::LoraAdapters& adapters,
                  const model::AdapterTargets& possible) {
  if (!adapters.joined) return;
  for (const TargetGroup& word : target_words()) {
    const model::AdapterTargets here = adapters.targets & word.targets;
    if (here.none() || here == (word.targets & possible)) continue;
    node.fail(fmt::format(
        "a joined adapter needs all of {}: name it, or set adapters.joined: false", word.name));
  }
}

/// Fails if the job's framework does not support a narrow base of this type.
void check_narrow(DocumentNode node, const Job& job, DType base) {
  if (job.framework.name.empty()) return;
  const WordSet runs =
      FrameworkSupport(job.framework).supported_property_words(FrameworkProperty::kTrained, 0);
  const std::vector<std::string>& words =
      framework_property_value_names(FrameworkProperty::kTrained);
  const auto has = [&](std::string_view word) {
    return runs[static_cast<std::size_t>(std::ranges::find(words, word) - words.begin())];
  };
  if (has("narrow_base") && (base != DType::kFp8 || has("fp8_base"))) return;
  const TrainingFramework& framework = job.framework;
  node.fail(fmt::format("{} has no base of {}: of what is trained it runs {}",
                        framework.variant.empty() ? framework.name : framework.variant, node.text(),
                        property_words_text(FrameworkProperty::kTrained, runs)));
}

DType read_base(DocumentNode node, const Job& job) {
  const DType base = node.choice(model::kAdapterBaseTypeNames);
  if (base != DType::kBf16) check_narrow(node, job, base);
  const DType stored = parameter_storage_type(job.precision);
  if (stored == DType::kBf16) return base;
  const std::string_view name = name_of(kDTypeNames, stored);
  if (base == DType::kBf16) {
    node.fail(fmt::format("is left out with precision {0}, in which the base is stored", name));
  }
  if (stored != DType::kFp16) {
    node.fail(fmt::format("a narrow base is of precision bf16, fp16 and narrower; it is {}", name));
  }
  return base;
}

model::LoraAdapters read_adapters(DocumentNode node, const Job& job) {
  node.allow_only_keys({"rank", "alpha", "targets", "dropout", "base", "joined"});
  const model::AdapterTargets possible = model::possible_adapter_targets(job.model);
  if (possible.none())
    node.fail("the model has no matrix product to which an adapter could be added");
  model::LoraAdapters adapters;
  adapters.joined = framework_defaults(job.framework).joined_adapters;
  if (const auto joined = node.find("joined")) adapters.joined = joined->boolean();
  const auto targets = node.find("targets");
  adapters.targets = targets ? read_targets(*targets, possible) : possible;
  if (targets) check_joined(*targets, adapters, possible);
  adapters.rank =
      node.get("rank").integer(1, model::largest_adapter_rank(job.model, adapters.targets));
  adapters.alpha = static_cast<double>(adapters.rank);
  if (const auto alpha = node.find("alpha")) {
    adapters.alpha = alpha->number(0, kMostAlpha);
    if (adapters.alpha == 0) alpha->fail("must be above 0: adapters would change nothing");
  }
  if (const auto dropout = node.find("dropout")) {
    adapters.dropout = dropout->number(0, 1);
    if (adapters.dropout == 1) dropout->fail("must be below 1: it would drop everything");
  }
  if (const auto base = node.find("base")) adapters.base = read_base(*base, job);
  return adapters;
}

constexpr std::string_view kLayersWord = "layers ";

/// Reads a range of frozen layers, as "layers 0-11".
void read_frozen_layers(DocumentNode node, const model::ModelArchitecture& model,
                        model::FrozenModelParts& frozen) {
  const std::string text = node.text();
  const std::string_view range = std::string_view(text).substr(kLayersWord.size());
  const std::size_t dash = range.find('-');
  const IntegerParseResult first = read_integer(range.substr(0, dash));
  const IntegerParseResult last =
      dash == std::string_view::npos ? first : read_integer(range.substr(dash + 1));
  const auto good = [&](const IntegerParseResult& number) {
    return number.status == IntegerParseResult::IntegerParseStatus::kGood && number.value >= 0 &&
           number.value < model.layers;
  };
  if (!good(first) || !good(last) || last.value < first.value) {
    node.fail(fmt::format("must name layers from 0 to {}, as in 'layers 0-11'; it is '{}'",
                          model.layers - 1, one_line_printable_text(text)));
  }
  if (frozen.layers > 0) node.fail("layers are named twice: freeze one run of them");
  frozen.first = first.value;
  frozen.layers = last.value - first.value + 1;
}

model::FrozenModelParts read_frozen(DocumentNode node, const model::ModelArchitecture& model) {
  if (!node.is_sequence()) node.fail("must be a list, as in [embedding, layers 0-11]");
  static constexpr std::string_view kKnown[] = {"embedding", "encoder", "projector", "layers 0-11"};
  model::FrozenModelParts frozen;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string word = node.at(i).text();
    if (word == "embedding") {
      frozen.embedding = true;
    } else if (word.starts_with(kLayersWord)) {
      read_frozen_layers(node.at(i), model, frozen);
    } else if (word == "encoder" || word == "projector") {
      if (!model.encoder) node.at(i).fail("the model has no encoder: it is a decoder alone");
      (word == "encoder" ? frozen.encoder : frozen.projector) = true;
    } else {
      fail_unknown_word(node.at(i), kKnown);
    }
  }
  return frozen;
}

Json targets_json(const model::LoraAdapters& adapters) {
  Json list = Json::array();
  model::AdapterTargets left = adapters.targets;
  for (const TargetGroup& word : target_words()) {
    if ((left & word.targets) != word.targets || left.none()) continue;
    list.push_back(word.name);
    left &= ~word.targets;
  }
  return list;
}

}  // namespace

void read_adapters_and_frozen_parts(DocumentNode file, Job& job) {
  if (const auto frozen = file.find("frozen")) job.model.frozen = read_frozen(*frozen, job.model);
  const auto adapters = file.find("adapters");
  if (!adapters) return;
  job.model.adapters = read_adapters(*adapters, job);
  const model::FrozenModelParts& frozen = job.model.frozen;
  if (frozen.layers == job.model.layers) {
    adapters->fail("all layers are frozen: adapters have no place");
  }
}

void write_adapters_and_frozen_parts(Json& file, const Job& job) {
  if (job.model.adapters) {
    const model::LoraAdapters& adapters = *job.model.adapters;
    Json json = {{"rank", adapters.rank},
                 {"alpha", adapters.alpha},
                 {"targets", targets_json(adapters)},
                 {"dropout", adapters.dropout}};
    if (parameter_storage_type(job.precision) == DType::kBf16 || adapters.quantised()) {
      json["base"] = name_of(model::kAdapterBaseTypeNames, adapters.base);
    }
    json["joined"] = adapters.joined;
    file["adapters"] = std::move(json);
  }
  const model::FrozenModelParts& frozen = job.model.frozen;
  if (!frozen.any()) return;
  Json list = Json::array();
  if (frozen.embedding) list.push_back("embedding");
  if (frozen.encoder) list.push_back("encoder");
  if (frozen.projector) list.push_back("projector");
  if (frozen.layers > 0) {
    list.push_back(fmt::format("layers {}-{}", frozen.first, frozen.first + frozen.layers - 1));
  }
  file["frozen"] = std::move(list);
}

}  // namespace stepwright::plan
