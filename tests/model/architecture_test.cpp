#include "stepwright/model/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"
#include "tests/model/random_architecture.h"

namespace stepwright::model {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHuge = kMaxModelDimension;

std::string error_of(std::string_view base, const std::function<void(ModelArchitecture&)>& change) {
  ModelArchitecture model = built_in_model(base).value();
  change(model);
  try {
    check_model_sizes(model, "job.yaml:3:7: model");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("job.yaml:3:7: model: "));
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

std::string llama_error(const std::function<void(ModelArchitecture&)>& change) {
  return error_of("llama-3-8b", change);
}

TEST(ModelArchitecture, ClassesOfLayersAreCounted) {
  ModelArchitecture model = built_in_model("deepseek-v3").value();
  EXPECT_EQ(
      model.layer_counts_by_class(),
      (std::map<LayerClass, std::int64_t>{{{}, 3}, {{.feed_forward = FeedForward::kExperts}, 58}}));
  model.pattern[60].window = 128;
  EXPECT_EQ(model.layer_counts_by_class().size(), 3U);
  EXPECT_EQ(model.layer_class(60),
            (LayerClass{.feed_forward = FeedForward::kExperts, .window = 128}));
}

TEST(ModelArchitecture, RoutersAreCorrectedWhereTheirLayerIsTrained) {
  ModelArchitecture model = built_in_model("deepseek-v3").value();
  const auto corrected = [&] {
    std::int64_t routers = 0;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      if (model.adjusts_router_biases(model.layer_class(layer))) ++routers;
    }
    return routers;
  };
  EXPECT_EQ(corrected(), 58);
  model.frozen = {.first = 0, .layers = 13};
  EXPECT_EQ(corrected(), 48);
  model.frozen = {};
  model.adapters = LoraAdapters{.rank = 8};
  EXPECT_EQ(corrected(), 0);
  model.adapters = {};
  model.experts->correction_bias = false;
  EXPECT_EQ(corrected(), 0);
}

TEST(ModelArchitecture, ValuesOfLatentHeadsHaveTheirOwnWidth) {
  EXPECT_EQ(built_in_model("deepseek-v3")->value_head_elements(), 128);
  EXPECT_EQ(built_in_model("llama-3-8b")->value_head_elements(), 128);
  EXPECT_EQ(built_in_model("deepseek-v3")->head_dim, 192);
}

TEST(Check, EverySizeHasALowestAndAHighestValue) {
  const std::pair<const char*, std::int64_t ModelArchitecture::*> sizes[] = {
      {"layers", &ModelArchitecture::layers},     {"hidden", &ModelArchitecture::hidden},
      {"heads", &ModelArchitecture::heads},       {"kv_heads", &ModelArchitecture::kv_heads},
      {"head_dim", &ModelArchitecture::head_dim}, {"ffn", &ModelArchitecture::ffn},
      {"vocab", &ModelArchitecture::vocabulary}};
  for (const auto& [field, member] : sizes) {
    for (const std::int64_t bad :
         {std::int64_t{0}, std::int64_t{-1}, kHuge + 1, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
      const std::string message =
          llama_error([&](ModelArchitecture& model) { model.*member = bad; });
      EXPECT_THAT(message, HasSubstr(std::string(field) + ": " + std::to_string(bad)));
    }
  }
}

TEST(Check, ProductsOfLegalSizesMayBeTooLarge) {
  EXPECT_THAT(llama_error([](ModelArchitecture& m) { m.vocabulary = m.hidden = kHuge; }),
              HasSubstr("parameters"));
  EXPECT_THAT(llama_error([](ModelArchitecture& m) { m.heads = m.kv_heads = m.head_dim = kHuge; }),
              HasSubstr("elements per head"));
  EXPECT_THAT(error_of("mixtral-8x7b",
                       [](ModelArchitecture& m) { m.experts->count = m.experts->ffn = kHuge; }),
              HasSubstr("parameters"));
  EXPECT_THAT(error_of("deepseek-v3",
                       [](ModelArchitecture& m) {
                         m.latent->nope_head_dim = kHuge;
                         m.head_dim = kHuge + 64;
                       }),
              HasSubstr("head_dim"));
  EXPECT_THAT(
      error_of("deepseek-v3", [](ModelArchitecture& m) { m.latent->value_head_dim = kHuge; }),
      HasSubstr("elements per head"));
}

TEST(Check, ListsHaveOneEntryPerLayer) {
  EXPECT_THAT(llama_error([](ModelArchitecture& m) { m.pattern.resize(2); }),
              HasSubstr("layers: a list of 2"));
  EXPECT_THAT(error_of("mixtral-8x7b",
                       [](ModelArchitecture& m) {
                         m.pattern = {{}, {.feed_forward = FeedForward::kExperts}};
                       }),
              HasSubstr("one entry per layer (32)"));
  EXPECT_THAT(error_of("mixtral-8x7b", [](ModelArchitecture& m) { m.pattern.assign(32, {}); }),
              HasSubstr("at least one layer with experts"));
}

TEST(Check, FractionsAreNumbersInTheirRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -0.1, 1.0, 1e300}) {
    EXPECT_THAT(llama_error([&](ModelArchitecture& m) { m.dropout = bad; }), HasSubstr("dropout"));
  }
  for (const double bad : {nan, 0.0, 1.1, -1.0}) {
    EXPECT_THAT(llama_error([&](ModelArchitecture& m) { m.rotary_fraction = bad; }),
                HasSubstr("rotary_fraction"));
  }
}

TEST(Properties, EveryTrainedTensorIsCountedOnce) {
  RandomArchitecture random(7);
  for (int i = 0; i < 500; ++i) {
    const ModelArchitecture model = random.make();
    std::int64_t sum = 0;
    const auto add = [&](const std::vector<ModelParameter>& list, std::int64_t times) {
      for (const ModelParameter& parameter : list) {
        if (parameter.trained) sum += times * parameter.elements();
      }
    };
    add(embedding_parameters(model), 1);
    add(head_parameters(model), 1);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      add(layer_parameters(model, model.layer_class(layer)), 1);
    }
    if (model.count_multi_token)
      add(multi_token_module_parameters(model), model.multi_token_layers);
    EXPECT_EQ(count_parameters(model), sum);
    EXPECT_LE(count_active_parameters(model), sum);
    EXPECT_GT(forward_flops_per_token(model, 128), 0);
    EXPECT_LE(forward_flops_per_token(model, 128), forward_flops_per_token(model, 256));
  }
}

}  // namespace
}  // namespace stepwright::model
