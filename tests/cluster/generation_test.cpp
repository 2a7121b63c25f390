#include "stepwright/cluster/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/error.h"

namespace stepwright::cluster {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGenerationFile = R"(stepwright: generation/1
name: X1
peak: {from: 1e12, to: 2e12}
adding_switches: false
kernels: [flash2]
matrix_share: 0.7
sustained_share: 0.9
start_us: 5
attention: {flash1: 0.3, flash2: 0.4, flash3: 0.4, cudnn: 0.4, triton: 0.4}
attention_backward: {flash2: 0.5}
network_share: 0.8
source: "a datasheet"
)";

DeviceGeneration generation_in(std::string_view text) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "x1.yaml");
  return read_device_generation(document.root());
}

/// Returns the error for a generation file in which one text is replaced.
std::string refused_generation(std::string_view part, std::string_view by) {
  std::string text(kGenerationFile);
  text.replace(text.find(part), part.size(), by);
  try {
    generation_in(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

DeviceModel device_of_peak(double flops) {
  return {.name = "device", .peak_flops = {{DType::kFp16, flops}}};
}

TEST(Generations, AreFiles) {
  for (const EmbeddedFile& file : embedded_generations()) {
    const DeviceGeneration& one = device_generations()[&file - embedded_generations().data()];
    std::string name = one.name;
    std::ranges::transform(name, name.begin(), [](char c) {
      return c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    EXPECT_EQ(name, file.name);
    EXPECT_EQ(&find_device_generation(one.name), &one);
    if (!one.architecture.empty()) {
      EXPECT_EQ(&find_device_generation(one.architecture), &one);
    }
  }
}

TEST(Generations, LieApartInTheirPeaks) {
  for (const DeviceGeneration& one : device_generations()) {
    EXPECT_EQ(one.lowest_flops == 0, one.highest_flops == 0);
    for (const DeviceGeneration& other : device_generations()) {
      if (&one == &other || one.lowest_flops == 0) continue;
      EXPECT_TRUE(one.highest_flops < other.lowest_flops || other.highest_flops < one.lowest_flops)
          << one.name << " and " << other.name;
    }
  }
}

TEST(Generations, EveryBuiltInDeviceNamesOneAndLiesInIt) {
  for (const std::string_view name : built_in_device_names()) {
    const DeviceModel device = built_in_device(name);
    ASSERT_NE(device.generation, nullptr) << name;
    if (device.generation->lowest_flops == 0 || device.variant) continue;
    EXPECT_EQ(&generation_of_peak(dense_sixteen_bit_peak_flops(device)), device.generation) << name;
  }
}

TEST(Generations, ADeviceHasTheOneThatItStates) {
  DeviceModel device = device_of_peak(312e12);
  device.generation = &find_device_generation("B200");
  EXPECT_EQ(&device_generation_of(device), device.generation);
}

TEST(Generations, ADeviceThatStatesNoneHasThatOfItsPeak) {
  const auto name = [](double flops) { return device_generation_of(device_of_peak(flops)).name; };
  EXPECT_EQ(name(125e12), "V100");
  EXPECT_EQ(name(312e12), "A100");
  EXPECT_EQ(name(756e12), "H100");
  EXPECT_EQ(name(989.4e12), "H100");
  EXPECT_EQ(name(2500e12), "B200");
  EXPECT_EQ(name(1307e12), kFallbackDeviceGenerationName);
  EXPECT_EQ(name(10e12), kFallbackDeviceGenerationName);
  EXPECT_EQ(dense_sixteen_bit_peak_flops(device_of_peak(10e12)), 10e12);
}

TEST(Generations, AFileIsRead) {
  const DeviceGeneration one = generation_in(kGenerationFile);
  EXPECT_EQ(one.name, "X1");
  EXPECT_EQ(one.highest_flops, 2e12);
  EXPECT_EQ(one.matrix_share, 0.7);
  EXPECT_EQ(one.fp8_speedup, 1);
  EXPECT_EQ(one.attention_backward_rate_ratio[static_cast<std::size_t>(AttentionKernel::kFlash2)],
            0.5);
  EXPECT_EQ(one.attention_backward_rate_ratio[static_cast<std::size_t>(AttentionKernel::kCudnn)],
            0);
  EXPECT_TRUE(one.has_kernel[static_cast<std::size_t>(AttentionKernel::kFlash2)]);
  EXPECT_FALSE(one.has_kernel[static_cast<std::size_t>(AttentionKernel::kCudnn)]);
  EXPECT_EQ(one.attention_peak_share[static_cast<std::size_t>(AttentionKernel::kFlash1)], 0.3);
  EXPECT_EQ(one.sources.at("start_us"), "a datasheet");
}

TEST(Generations, WhatAFileLacksIsNamed) {
  EXPECT_THAT(refused_generation("matrix_share: 0.7\n", ""), HasSubstr("matrix_share"));
  EXPECT_THAT(refused_generation("matrix_share: 0.7", "matrix_share: 70"),
              HasSubstr("matrix_share"));
  EXPECT_THAT(refused_generation("matrix_share", "matrix_shar"), HasSubstr("did you mean"));
  EXPECT_THAT(refused_generation("cudnn: 0.4", "cudnn: 0.4, flash4: 0.5"), HasSubstr("flash4"));
  EXPECT_THAT(refused_generation("{flash2: 0.5}", "{flash9: 0.5}"), HasSubstr("flash9"));
  EXPECT_THAT(refused_generation("[flash2]", "[unfused]"), HasSubstr("exists everywhere"));
  EXPECT_THAT(refused_generation("to: 2e12", "to: 5e11"), HasSubstr("peak.to"));
  EXPECT_THAT(refused_generation("\"a datasheet\"", "\"\""), HasSubstr("states no source of peak"));
  EXPECT_THAT(refused_generation("\"a datasheet\"", "{peak: a datasheet}"), HasSubstr("source"));
}

TEST(Generations, AnUnknownOneIsRefusedWithTheNearest) {
  const YamlJsonDocument document = YamlJsonDocument::parse("generation: H10", "device.yaml");
  try {
    find_device_generation("H10", document.root().get("generation"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown generation 'H10'; did you mean 'H100'?"));
  }
}

}  // namespace
}  // namespace stepwright::cluster
