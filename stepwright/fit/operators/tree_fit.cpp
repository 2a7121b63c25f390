#include "stepwright/fit/operators/tree_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/fit/operators/xgboost_library.h"

namespace stepwright::fit {
namespace {

constexpr int kTrees = 120;
constexpr std::pair<const char*, const char*> kSettings[] = {{"objective", "reg:squarederror"},
                                                             {"tree_method", "hist"},
                                                             {"max_depth", "4"},
                                                             {"eta", "0.1"},
                                                             {"subsample", "0.8"},
                                                             {"colsample_bytree", "0.7"},
                                                             {"min_child_weight", "4"},
                                                             {"nthread", "1"},
                                                             {"seed", "1"},
                                                             {"verbosity", "0"}};

void check(int status) {
  if (status == 0) return;
  throw Error(ErrorKind::kRuntime, fmt::format("XGBoost: {}", load_xgboost_library().last_error()));
}

/// A handle of XGBoost's C interface that is freed with this object.
class Handle {
 public:
  explicit Handle(int (*free)(void*)) : free_(free) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { free_(handle_); }
  void** out() { return &handle_; }
  [[nodiscard]] void* get() const { return handle_; }

 private:
  int (*free_)(void*);
  void* handle_ = nullptr;
};

void fill(Handle& matrix, std::span<const BoostedTreeFitRow> rows) {
  const std::size_t columns = rows.front().inputs.count;
  std::vector<float> values, targets;
  for (const BoostedTreeFitRow& row : rows) {
    values.insert(values.end(), row.inputs.all().begin(), row.inputs.all().end());
    targets.push_back(row.target);
  }
  check(load_xgboost_library().matrix_create(
      values.data(), rows.size(), columns, std::numeric_limits<float>::quiet_NaN(), matrix.out()));
  check(load_xgboost_library().matrix_set(matrix.get(), "label", targets.data(), targets.size()));
}

float median_target(std::span<const BoostedTreeFitRow> rows) {
  std::vector<float> targets;
  for (const BoostedTreeFitRow& row : rows) targets.push_back(row.target);
  std::ranges::nth_element(targets, targets.begin() + std::ssize(targets) / 2);
  return targets[targets.size() / 2];
}

void train(Handle& booster, const Handle& matrix, float base) {
  const DMatrixHandle matrices[] = {matrix.get()};
  check(load_xgboost_library().create(matrices, 1, booster.out()));
  for (const auto& [name, value] : kSettings)
    check(load_xgboost_library().set(booster.get(), name, value));
  check(load_xgboost_library().set(booster.get(), "base_score", fmt::format("{}", base).c_str()));
  for (int round = 0; round < kTrees; ++round) {
    check(load_xgboost_library().update(booster.get(), round, matrix.get()));
  }
}

/// Appends one node of XGBoost's saved model and its descendants, as `BoostedTrees` reads them.
void append_node(const nlohmann::json& tree, std::size_t node, std::string& text) {
  if (!text.empty()) text += ' ';
  const auto value = tree["split_conditions"][node].get<float>();
  const int lower = tree["left_children"][node].get<int>();
  if (lower < 0) {
    text += fmt::format("{}", value);
    return;
  }
  text += fmt::format("{}<{}", tree["split_indices"][node].get<int>(), value);
  append_node(tree, static_cast<std::size_t>(lower), text);
  append_node(tree, tree["right_children"][node].get<std::size_t>(), text);
}

}  // namespace

cost::BoostedTrees fit_boosted_trees(std::span<const BoostedTreeFitRow> rows) {
  Handle matrix(load_xgboost_library().matrix_free);
  Handle booster(load_xgboost_library().free);
  fill(matrix, rows);
  train(booster, matrix, median_target(rows));
  bst_ulong length = 0;
  const char* saved = nullptr;
  check(load_xgboost_library().save(booster.get(), R"({"format": "json"})", &length, &saved));
  const auto model = nlohmann::json::parse(saved, saved + length)["learner"];
  std::vector<std::string> texts;
  for (const auto& tree : model["gradient_booster"]["model"]["trees"]) {
    append_node(tree, 0, texts.emplace_back());
  }
  const float base = std::stof(model["learner_model_param"]["base_score"].get<std::string>());
  return {base, texts, rows.front().inputs.count, "XGBoost"};
}

std::vector<float> xgboost_predictions(std::span<const BoostedTreeFitRow> rows) {
  Handle matrix(load_xgboost_library().matrix_free);
  Handle booster(load_xgboost_library().free);
  fill(matrix, rows);
  train(booster, matrix, median_target(rows));
  bst_ulong count = 0;
  const float* values = nullptr;
  check(load_xgboost_library().predict(booster.get(), matrix.get(), 0, 0, 0, &count, &values));
  return {values, values + count};
}

}  // namespace stepwright::fit
