#include "stepwright/model/flops.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

struct Worked {
  std::string_view name;
  std::int64_t length;
  double matrices;   ///< Multiply-adds of one token with matrices.
  double attention;  ///< Multiply-adds of one token in scores and weighted sums.
};

// matrices = layers * (attention matrices + MLP) + head; attention = layers * length * (width of
// the scores' heads + width of the values' heads). Each is written out from the published sizes.
constexpr Worked kWorked[] = {
    {"llama-2-7b", 4096, 32. * (4. * 4096 * 4096 + 3. * 4096 * 11008) + 32000. * 4096,
     32. * 4096 * (4096 + 4096)},
    {"llama-2-13b", 4096, 40. * (4. * 5120 * 5120 + 3. * 5120 * 13824) + 32000. * 5120,
     40. * 4096 * (5120 + 5120)},
    {"llama-2-70b", 4096,
     80. * (8192. * (8192 + 1024 + 1024 + 8192) + 3. * 8192 * 28672) + 32000. * 8192,
     80. * 4096 * (8192 + 8192)},
    {"llama-3-8b", 8192,
     32. * (4096. * (4096 + 1024 + 1024 + 4096) + 3. * 4096 * 14336) + 128256. * 4096,
     32. * 8192 * (4096 + 4096)},
    {"llama-3-70b", 8192,
     80. * (8192. * (8192 + 1024 + 1024 + 8192) + 3. * 8192 * 28672) + 128256. * 8192,
     80. * 8192 * (8192 + 8192)},
    {"llama-3.1-8b", 131072,
     32. * (4096. * (4096 + 1024 + 1024 + 4096) + 3. * 4096 * 14336) + 128256. * 4096,
     32. * 131072 * (4096 + 4096)},
    {"llama-3.1-70b", 8192,
     80. * (8192. * (8192 + 1024 + 1024 + 8192) + 3. * 8192 * 28672) + 128256. * 8192,
     80. * 8192 * (8192 + 8192)},
    {"llama-3.1-405b", 8192,
     126. * (16384. * (16384 + 1024 + 1024 + 16384) + 3. * 16384 * 53248) + 128256. * 16384,
     126. * 8192 * (16384 + 16384)},
    {"llama-3.2-1b", 2048,
     16. * (2048. * (2048 + 512 + 512 + 2048) + 3. * 2048 * 8192) + 128256. * 2048,
     16. * 2048 * (2048 + 2048)},
    {"llama-3.2-3b", 2048,
     28. * (3072. * (3072 + 1024 + 1024 + 3072) + 3. * 3072 * 8192) + 128256. * 3072,
     28. * 2048 * (3072 + 3072)},
    {"llama-30b", 2048, 60. * (4. * 6656 * 6656 + 3. * 6656 * 17920) + 32000. * 6656,
     60. * 2048 * (6656 + 6656)},
    {"llama-65b", 2048, 80. * (4. * 8192 * 8192 + 3. * 8192 * 22016) + 32000. * 8192,
     80. * 2048 * (8192 + 8192)},
    {"qwen2-7b", 4096,
     28. * (3584. * (3584 + 512 + 512 + 3584) + 3. * 3584 * 18944) + 152064. * 3584,
     28. * 4096 * (3584 + 3584)},
    {"qwen2.5-7b", 4096,
     28. * (3584. * (3584 + 512 + 512 + 3584) + 3. * 3584 * 18944) + 152064. * 3584,
     28. * 4096 * (3584 + 3584)},
    {"qwen2.5-32b", 4096,
     64. * (5120. * (5120 + 1024 + 1024 + 5120) + 3. * 5120 * 27648) + 152064. * 5120,
     64. * 4096 * (5120 + 5120)},
    {"qwen2.5-72b", 4096,
     80. * (8192. * (8192 + 1024 + 1024 + 8192) + 3. * 8192 * 29568) + 152064. * 8192,
     80. * 4096 * (8192 + 8192)},
    {"qwen3-0.6b", 4096,
     28. * (1024. * (2048 + 1024 + 1024 + 2048) + 3. * 1024 * 3072) + 151936. * 1024,
     28. * 4096 * (2048 + 2048)},
    {"qwen3-8b", 4096,
     36. * (4096. * (4096 + 1024 + 1024 + 4096) + 3. * 4096 * 12288) + 151936. * 4096,
     36. * 4096 * (4096 + 4096)},
    {"qwen3-32b", 4096,
     64. * (5120. * (8192 + 1024 + 1024 + 8192) + 3. * 5120 * 25600) + 151936. * 5120,
     64. * 4096 * (8192 + 8192)},
    {"qwen3-30b-a3b", 4096,
     48. * (2048. * (4096 + 512 + 512 + 4096) + 128. * 2048 + 8. * 3 * 2048 * 768) + 151936. * 2048,
     48. * 4096 * (4096 + 4096)},
    {"qwen3-235b-a22b", 4096,
     94. * (4096. * (8192 + 512 + 512 + 8192) + 128. * 4096 + 8. * 3 * 4096 * 1536) +
         151936. * 4096,
     94. * 4096 * (8192 + 8192)},
    {"qwen2-57b-a14b", 4096,
     28. * (3584. * (3584 + 512 + 512 + 3584) + 64. * 3584 + 8. * 3 * 3584 * 2560 +
            3. * 3584 * 20480 + 3584) +
         151936. * 3584,
     28. * 4096 * (3584 + 3584)},
    // Longer than the window of 4096, which all layers have.
    {"mistral-7b", 16384,
     32. * (4096. * (4096 + 1024 + 1024 + 4096) + 3. * 4096 * 14336) + 32000. * 4096,
     32. * 4096 * (4096 + 4096)},
    {"mistral-7b-v0.3", 16384,
     32. * (4096. * (4096 + 1024 + 1024 + 4096) + 3. * 4096 * 14336) + 32768. * 4096,
     32. * 16384 * (4096 + 4096)},
    {"mixtral-8x7b", 4096,
     32. * (4096. * (4096 + 1024 + 1024 + 4096) + 8. * 4096 + 2. * 3 * 4096 * 14336) +
         32000. * 4096,
     32. * 4096 * (4096 + 4096)},
    {"mixtral-8x22b", 4096,
     56. * (6144. * (6144 + 1024 + 1024 + 6144) + 8. * 6144 + 2. * 3 * 6144 * 16384) +
         32768. * 6144,
     56. * 4096 * (6144 + 6144)},
    // Latent attention: down to 1536 and 512 + 64, up to 128 heads of 192 and of 128 + 128.
    {"deepseek-v3", 4096,
     61. * (7168. * 1536 + 1536. * 24576 + 7168. * 576 + 512. * 32768 + 16384. * 7168) +
         3. * 3 * 7168 * 18432 + 58. * (256. * 7168 + 9. * 3 * 7168 * 2048) + 129280. * 7168,
     61. * 4096 * (128. * 192 + 128. * 128)},
    {"moonlight-16b-a3b", 4096,
     27. * (2048. * 3072 + 2048. * 576 + 512. * 4096 + 2048. * 2048) + 3. * 2048 * 11264 +
         26. * (64. * 2048 + 8. * 3 * 2048 * 1408) + 163840. * 2048,
     27. * 4096 * (16. * 192 + 16. * 128)},
    {"gpt2", 1024, 12. * 12 * 768 * 768 + 50257. * 768, 12. * 1024 * (768 + 768)},
    {"gpt2-xl", 1024, 48. * 12 * 1600 * 1600 + 50257. * 1600, 48. * 1024 * (1600 + 1600)},
    {"gpt-neox-20b", 2048, 44. * 12 * 6144 * 6144 + 50432. * 6144, 44. * 2048 * (6144 + 6144)},
    {"pythia-1.4b", 2048, 24. * 12 * 2048 * 2048 + 50304. * 2048, 24. * 2048 * (2048 + 2048)},
    {"gpt3-175b", 2048, 96. * 12 * 12288 * 12288 + 50257. * 12288, 96. * 2048 * (12288 + 12288)},
    {"gpt-22b", 2048, 48. * 12 * 6144 * 6144 + 51200. * 6144, 48. * 2048 * (6144 + 6144)},
    {"gpt-145b", 2048, 80. * 12 * 12288 * 12288 + 51200. * 12288, 80. * 2048 * (12288 + 12288)},
    {"gpt-1t", 2048, 128. * 12 * 25600 * 25600 + 51200. * 25600, 128. * 2048 * (25600 + 25600)},
    {"bloom-176b", 2048, 70. * 12 * 14336 * 14336 + 250880. * 14336, 70. * 2048 * (14336 + 14336)},
    {"mpt-7b", 2048, 32. * 12 * 4096 * 4096 + 50432. * 4096, 32. * 2048 * (4096 + 4096)},
    {"mpt-30b", 8192, 48. * 12 * 7168 * 7168 + 50432. * 7168, 48. * 8192 * (7168 + 7168)},
    {"nemotron-4-15b", 4096,
     32. * (6144. * (6144 + 1024 + 1024 + 6144) + 2. * 6144 * 24576) + 256000. * 6144,
     32. * 4096 * (6144 + 6144)},
    {"nemotron-4-340b", 4096,
     96. * (18432. * (18432 + 1536 + 1536 + 18432) + 2. * 18432 * 73728) + 256000. * 18432,
     96. * 4096 * (18432 + 18432)},
    // Every sixth layer sees the whole sequence, the others 512 or 1024 tokens.
    {"gemma-3-1b", 4096,
     26. * (1152. * (1024 + 256 + 256 + 1024) + 3. * 1152 * 6912) + 262144. * 1152,
     (22. * 512 + 4. * 4096) * (1024 + 1024)},
    {"gemma-3-27b", 4096,
     62. * (5376. * (4096 + 2048 + 2048 + 4096) + 3. * 5376 * 21504) + 262208. * 5376,
     (52. * 1024 + 10. * 4096) * (4096 + 4096)},
    {"glm-4.5-air", 4096,
     46. * 4096 * (12288. + 1024 + 1024 + 12288) + 3. * 4096 * 10944 +
         45. * (128. * 4096 + 9. * 3 * 4096 * 1408) + 151552. * 4096,
     46. * 4096 * (12288 + 12288)},
    // Every other layer sees 128 tokens.
    {"gpt-oss-20b", 4096,
     24. * (2880. * (4096 + 512 + 512 + 4096) + 32. * 2880 + 4. * 3 * 2880 * 2880) + 201088. * 2880,
     12. * (128 + 4096) * (4096 + 4096)},
    {"gpt-oss-120b", 4096,
     36. * (2880. * (4096 + 512 + 512 + 4096) + 128. * 2880 + 4. * 3 * 2880 * 2880) +
         201088. * 2880,
     18. * (128 + 4096) * (4096 + 4096)},
    {"olmo-2-7b", 4096, 32. * (4. * 4096 * 4096 + 3. * 4096 * 11008) + 100352. * 4096,
     32. * 4096 * (4096 + 4096)},
    {"olmo-2-13b", 4096, 40. * (4. * 5120 * 5120 + 3. * 5120 * 13824) + 100352. * 5120,
     40. * 4096 * (5120 + 5120)},
    {"olmo-2-32b", 4096,
     64. * (5120. * (5120 + 1024 + 1024 + 5120) + 3. * 5120 * 27648) + 100352. * 5120,
     64. * 4096 * (5120 + 5120)},
    // Mamba-2: gates and values of 8192, B and C of 1024, 128 step sizes; a convolution over 4
    // tokens, chunks of 128, states of 128 x 64 in 128 heads, B and C in 8 groups.
    {"nemotron-h-8b", 4096,
     24. * (4096. * (2 * 8192 + 2 * 1024 + 128) + 8192. * 4096) + 24. * 2 * 4096 * 21504 +
         4. * 4096 * (4096. + 1024 + 1024 + 4096) + 131072. * 4096,
     4. * 4096 * (4096 + 4096) +
         24. * (4. * (8192 + 2048) + 128. * (128 * 64 + 2 * 128 * 64) + 8. * 128 * 128)},
    // The same with 256 heads and states of 256.
    {"nemotron-h-56b", 4096,
     54. * (8192. * (2 * 16384 + 2 * 2048 + 256) + 16384. * 8192) + 54. * 2 * 8192 * 32768 +
         10. * 8192 * (8192. + 1024 + 1024 + 8192) + 131072. * 8192,
     10. * 4096 * (8192 + 8192) +
         54. * (4. * (16384 + 4096) + 256. * (128 * 64 + 2 * 256 * 64) + 8. * 128 * 256)},
    // Two matrices of 6 of 128 experts and of a shared one in the place of MLPs; the mixers as
    // above with 64 heads.
    {"nemotron-3-nano-30b-a3b", 4096,
     23. * (2688. * (2 * 4096 + 2 * 1024 + 64) + 4096. * 2688) +
         23. * (128. * 2688 + 6. * 2 * 2688 * 1856 + 2. * 2688 * 3712) +
         6. * 2688 * (4096. + 256 + 256 + 4096) + 131072. * 2688,
     6. * 4096 * (4096 + 4096) +
         23. * (4. * (4096 + 2048) + 64. * (128 * 64 + 2 * 128 * 64) + 8. * 128 * 128)},
    // Gates beside queries; delta nets: queries and keys of 2048, values and gates of 4096, two
    // numbers for each of 32 heads; chunks of 64, states of 128 x 128.
    {"qwen3-next-80b-a3b", 4096,
     12. * 2048 * (2 * 4096. + 512 + 512 + 4096) + 36. * 2048 * (2 * 2048. + 2 * 4096 + 64 + 4096) +
         48. * (512. * 2048 + 11. * 3 * 2048 * 512 + 2048) + 151936. * 2048,
     12. * 4096 * (4096 + 4096) +
         36. * (4. * (4096 + 4096) + 32. * (64 * (3 * 128 + 2 * 128) + 3 * 128 * 128))},
};

class WorkedFlops : public testing::TestWithParam<Worked> {};

TEST_P(WorkedFlops, MatchTheHandWorkedValue) {
  const Architecture model = built_in_model(GetParam().name).value();
  const double forward = 2 * (GetParam().matrices + GetParam().attention);
  EXPECT_DOUBLE_EQ(forward_flops_per_token(model, GetParam().length), forward);
  EXPECT_DOUBLE_EQ(training_flops_per_token(model, GetParam().length), 3 * forward);
}

INSTANTIATE_TEST_SUITE_P(Models, WorkedFlops, testing::ValuesIn(kWorked), [](const auto& row) {
  std::string name(row.param.name);
  for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
  return name;
});

TEST(Flops, EveryBuiltInModelIsWorkedByHand) {
  std::set<std::string_view> worked;
  for (const Worked& row : kWorked) worked.insert(row.name);
  for (const std::string_view name : built_in_models()) {
    EXPECT_EQ(worked.count(name), 1U) << name;
  }
}

// 2104.04473, equation 3, without its factor 4/3 for recomputation: 72 b s l h^2 (1 + s / (6 h) +
// V / (12 l h)) per step.
TEST(Flops, FollowMegatronsFormula) {
  const double h = 25600;
  const double layers = 128;
  const double per_token = 72 * layers * h * h * (1 + 2048 / (6 * h) + 51200 / (12 * layers * h));
  EXPECT_NEAR(training_flops_per_token(built_in_model("gpt-1t").value(), 2048) / per_token, 1,
              1e-12);
}

TEST(Flops, AlternatingWindowsCapOnlyTheirLayers) {
  Architecture model = built_in_model("llama-3-8b").value();
  const double full = forward_flops_per_token(model, 8192);
  std::vector<std::int64_t> windows(32, 0);
  for (std::size_t layer = 0; layer < 32; layer += 2) windows[layer] = 1024;
  set_windows(model, windows);
  EXPECT_DOUBLE_EQ(full - forward_flops_per_token(model, 8192),
                   16 * 2.0 * (8192 - 1024) * (4096 + 4096));
}

TEST(Flops, WindowLongerThanTheSequenceChangesNothing) {
  Architecture model = built_in_model("llama-3-8b").value();
  const double full = forward_flops_per_token(model, 8192);
  set_windows(model, std::vector<std::int64_t>(32, 8192));
  EXPECT_DOUBLE_EQ(forward_flops_per_token(model, 8192), full);
}

TEST(Flops, MultiTokenLayersAddTheirLayerProjectionAndHead) {
  Architecture model = built_in_model("deepseek-v3").value();
  const double without = forward_flops_per_token(model, 4096);
  model.count_multi_token = true;
  const double layer = 7168. * 1536 + 1536. * 24576 + 7168. * 576 + 512. * 32768 + 16384. * 7168 +
                       256. * 7168 + 9. * 3 * 7168 * 2048 + 4096 * (128. * 192 + 128. * 128);
  EXPECT_DOUBLE_EQ(forward_flops_per_token(model, 4096) - without,
                   2 * (layer + 2. * 7168 * 7168 + 129280. * 7168));
}

}  // namespace
}  // namespace stepwright
