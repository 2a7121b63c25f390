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

/// Figures shared by all devices of one hardware generation (Hopper, ...), such as the share of the
/// peak that kernels reach. Each generation is a file in `generations/` with a source for each
/// figure (docs/formats.md, "Generation").
struct DeviceGeneration {
  std::string name;  ///< Name of the generation, which is the name of its best-known device.
  std::string architecture;  ///< Name of the architecture, such as Hopper; empty: none.
  /// Range of dense 16-bit peaks in FLOP/s: a device whose peak is in it belongs to this
  /// generation; 0: devices belong to it only if they name it.
  double lowest_flops = 0, highest_flops = 0;
  /// Major CUDA compute capability of the generation, as PyTorch reports it; 0: not known.
  int compute_capability = 0;
  /// True if the switches inside a node can reduce data (NVLink SHARP).
  bool adding_switches = false;
  /// For each attention kernel: true if it exists for this generation of devices.
  std::array<bool, std::size(kAttentionKernelNames)> has_kernel{};
  /// Share of the dense 16-bit peak that each kernel's forward reaches at head dimension 128.
  std::array<double, std::size(kAttentionKernelNames)> attention_peak_share{};
  /// For each attention kernel, the FLOP/s of a long backward pass divided by those of the forward;
  /// 0: the default ratio (`kAttentionBackward`, cost/laws/constants.h).
  std::array<double, std::size(kAttentionKernelNames)> attention_backward_rate_ratio{};
  double matrix_share = 0;  ///< Share of the dense 16-bit peak that large matrix products reach.
  /// FLOP/s of matrix products inside a training job divided by those of the same products alone;
  /// power and clock limits cause the difference.
  double sustained_share = 0;
  /// FLOP/s of matrix products in fp8 or mxfp8 divided by those in 16 bits.
  double fp8_speedup = 1;
  double fp4_speedup = 1;  ///< FLOP/s of matrix products in nvfp4 divided by those in 16 bits.
  /// FLOP/s of fused attention in fp8 divided by those in 16 bits.
  double fp8_attention_speedup = 1;
  /// Power limit in W of the generation's best-known device; 0: not known.
  double board_power_w = 0;
  /// Dense 16-bit peak in TFLOP/s of the generation's best-known device; 0: not known, so each
  /// device's own peak is used.
  double board_tflops = 0;
  /// FLOP/s of matrix products in 16 bits divided by those in TF32; 0: the generation has no TF32.
  double tf32_slowdown = 0;
  /// Start-up time of a matrix product in microseconds: a product of F FLOPs reaches the share F /
  /// (F + start * rate) of its full rate.
  double start_us = 0;
  double network_share = 0;  ///< Share of the NICs' line rate that large messages reach.
  /// Source (a URL or a measurement) of each figure of a hardware generation, by the figure's key
  /// in the generation's file.
  std::map<std::string, std::string, std::less<>> sources;
};

/// Describes one figure in a generation's file: its key, the member that stores it, and its range.
/// A figure whose range begins at 1 may be missing.
struct DeviceGenerationFileKey {
  std::string_view key;
  double DeviceGeneration::* value;
  double lowest, highest;
};
inline constexpr DeviceGenerationFileKey kGenerationFigures[] = {
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

/// Reads a generation's file. Fails with `kInput` for unknown or missing keys, values out of range,
/// and figures without a source.
DeviceGeneration read_device_generation(DocumentNode root);

/// Returns all built-in hardware generations, in the order of their files. They exist until the
/// program ends, so pointers to them stay valid and can be compared.
std::span<const DeviceGeneration> device_generations();

/// Returns the hardware generation with this name or architecture. If there is none, fails with an
/// error at `where` that lists all.
const DeviceGeneration& find_device_generation(std::string_view word, DocumentNode where);
/// Returns the hardware generation with this name or architecture, which must exist.
const DeviceGeneration& find_device_generation(std::string_view word);

/// Name of the generation that is used for devices that match no other, so that any device can be
/// priced.
inline constexpr std::string_view kFallbackDeviceGenerationName = "other device";

/// Returns the dense bf16 peak of a device in FLOP/s; if the device states none, its peak in fp16,
/// fp32 or fp64, in this order, else in any precision; 1 if it states no peak.
double dense_sixteen_bit_peak_flops(const DeviceModel& device);

/// Returns the hardware generation that a device states; if it states none, the generation whose
/// range of dense 16-bit peaks contains the device's peak.
const DeviceGeneration& device_generation_of(const DeviceModel& device);
const DeviceGeneration& generation_of_peak(double sixteen_bit_flops_per_s);

}  // namespace stepwright::cluster
