#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"

namespace stepwright::cluster {

/// Figures shared by the devices of one architecture, which reach similar shares of their peaks.
/// Each is a file in `generations/` with a source for each figure (docs/formats.md, "Generation").
struct DeviceGeneration {
  std::string name;          ///< Name of the generation: that of its best-known device.
  std::string architecture;  ///< Name of the architecture, such as Hopper; empty: none.
  /// Range of the dense 16-bit peaks of its devices, in FLOP/s; 0: devices belong to it only by
  /// naming it.
  double lowest_flops = 0, highest_flops = 0;
  int compute_capability = 0;  ///< Major compute capability that PyTorch reports; 0: not known.
  /// True if the switches inside a node add data that passes (NVLink SHARP).
  bool adding_switches = false;
  /// For each `AttentionKernel`: whether it exists for this generation, and which share of the
  /// 16-bit peak its forward pass reaches at head dimension 128. `unfused` has neither.
  std::array<bool, std::size(kAttentionKernelNames)> has_kernel{};
  std::array<double, std::size(kAttentionKernelNames)> attention_share{};
  /// For each kernel, rate of a long attention's backward pass divided by its forward rate; 0: as
  /// in other generations (`kAttentionBackward`, cost/laws/constants.h).
  std::array<double, std::size(kAttentionKernelNames)> attention_backward{};
  double matrix_share = 0;  ///< Share of the 16-bit peak that large matrix products reach.
  /// Rate of matrix products inside a running job divided by their rate in isolation; power and
  /// clock limits cause the difference.
  double sustained_share = 0;
  double fp8_speedup = 1;  ///< Rate of fp8 and mxfp8 products divided by that of 16-bit products.
  double fp4_speedup = 1;  ///< Rate of nvfp4 products divided by that of 16-bit products.
  double fp8_attention_speedup = 1;  ///< Rate of fused attention in fp8 divided by that in 16 bits.
  double board_power_w = 0;          ///< Power limit of the best-known board, in W; 0: not known.
  /// Dense 16-bit peak of the best-known board, in TFLOP/s; 0: unknown (a device counts with its
  /// own peak).
  double board_tflops = 0;
  /// Rate of 16-bit products divided by that in TF32; 0: the generation has no TF32.
  double tf32_slowdown = 0;
  /// Startup of a matrix product, in microseconds: a product of F FLOPs reaches the share F / (F +
  /// start * rate) of its rate.
  double start_us = 0;
  double network_share = 0;  ///< Share of the NICs' line rate that messages reach.
  /// Sources of the figures, by their keys in the file.
  std::map<std::string, std::string, std::less<>> sources;
};

/// A figure of a generation: its key, and the range of its values. Figures whose range begins at 1
/// may be left out.
struct GenerationFigure {
  std::string_view key;
  double DeviceGeneration::* value;
  double lowest, highest;
};
inline constexpr GenerationFigure kGenerationFigures[] = {
    {"matrix_share", &DeviceGeneration::matrix_share, 0.01, 1},
    {"sustained_share", &DeviceGeneration::sustained_share, 0.01, 1},
    {"fp8_speedup", &DeviceGeneration::fp8_speedup, 1, 4},
    {"fp4_speedup", &DeviceGeneration::fp4_speedup, 1, 8},
    {"fp8_attention_speedup", &DeviceGeneration::fp8_attention_speedup, 1, 4},
    {"board_power", &DeviceGeneration::board_power_w, 1, 1e5},
    {"board_tflops", &DeviceGeneration::board_tflops, 1, 1e7},
    {"tf32_slowdown", &DeviceGeneration::tf32_slowdown, 1, 64},
    {"start_us", &DeviceGeneration::start_us, 0, 1000},
    {"network_share", &DeviceGeneration::network_share, 0.01, 1}};

/// Reads the file of a generation. Fails with `kInput` on unknown and missing keys, values out of
/// range, and figures without a source.
DeviceGeneration read_generation(Node root);

/// Returns all generations of `generations/`, in the order of their files. They exist until the
/// program ends, so that pointers to them can be compared and kept.
std::span<const DeviceGeneration> device_generations();

/// Returns the generation with this name or architecture. If there is none, fails at `where`,
/// naming all.
const DeviceGeneration& find_device_generation(std::string_view word, Node where);
/// Returns the generation with this name or architecture, which must exist.
const DeviceGeneration& find_device_generation(std::string_view word);

/// Name of the generation for devices that match no other, so that any device can be priced.
inline constexpr std::string_view kFallbackGeneration = "other device";

/// Returns the dense bf16 peak of a device in FLOP/s. If the device states none, its peak in fp16,
/// fp32 or fp64, in this order, else in any precision that it states; 1 if it states no peak.
double sixteen_bit_flops(const Device& device);

/// Returns the generation that a device states; if it states none, the generation whose range of
/// dense 16-bit peaks contains the device's peak. So a device can be described by its peaks alone.
const DeviceGeneration& device_generation_of(const Device& device);
const DeviceGeneration& generation_of_peak(double sixteen_bit_flops_per_s);

}  // namespace stepwright::cluster
