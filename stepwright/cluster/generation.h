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

/// Figures of the devices of one architecture, which attain alike shares of their peaks: a file in
/// `generations/` with a source for each figure (docs/formats.md, "Generation").
struct Generation {
  std::string name;          ///< Name of the generation's best-known device.
  std::string architecture;  ///< Another word for it, such as Hopper; empty: none.
  /// Dense 16-bit peaks between which its devices lie; 0: devices must name it.
  double lowest_flops = 0, highest_flops = 0;
  int compute_capability = 0;    ///< The major number that PyTorch reports; 0: not known.
  bool adding_switches = false;  ///< The switches of its links inside a node add what passes.
  /// Kernels of attention that exist for it, and what each attains forward at head dimension 128,
  /// of the 16-bit peak; by `AttentionKernel`. `unfused` has neither.
  std::array<bool, std::size(kAttentionKernelNames)> has_kernel{};
  std::array<double, std::size(kAttentionKernelNames)> attention_share{};
  /// Rate of a long attention backward over its forward, by kernel; 0: that of other generations
  /// (`kAttentionBackward`, cost/laws/constants.h).
  std::array<double, std::size(kAttentionKernelNames)> attention_backward{};
  double matrix_share = 0;  ///< Large products in 16 bits, of their peak.
  /// Rate of products in a running job over their rate alone: power and clocks.
  double sustained_share = 0;
  double fp8_speedup = 1;            ///< Rate of fp8 and mxfp8 products over those in 16 bits.
  double fp4_speedup = 1;            ///< Rate of nvfp4 products over those in 16 bits.
  double fp8_attention_speedup = 1;  ///< Rate of fused attention in fp8 over that in 16 bits.
  double board_power_w = 0;          ///< Limit of the best-known board, W; 0: not known.
  double board_tflops = 0;  ///< Dense 16-bit peak of that board, TFLOP/s; 0: of any of its devices.
  double tf32_slowdown = 0;  ///< Rate of products in 16 bits over those in TF32; 0: has no TF32.
  double start_us = 0;       ///< Start of a product: a rate of F / (F + start * rate).
  double network_share = 0;  ///< Share of the NICs' line rate that is attained.
  std::map<std::string, std::string, std::less<>> sources;  ///< Sources, by the keys of the file.
};

/// A figure of a generation: its key, and between which values it lies. Those that begin at 1 may
/// be left out.
struct GenerationFigure {
  std::string_view key;
  double Generation::* value;
  double lowest, highest;
};
inline constexpr GenerationFigure kGenerationFigures[] = {
    {"matrix_share", &Generation::matrix_share, 0.01, 1},
    {"sustained_share", &Generation::sustained_share, 0.01, 1},
    {"fp8_speedup", &Generation::fp8_speedup, 1, 4},
    {"fp4_speedup", &Generation::fp4_speedup, 1, 8},
    {"fp8_attention_speedup", &Generation::fp8_attention_speedup, 1, 4},
    {"board_power", &Generation::board_power_w, 1, 1e5},
    {"board_tflops", &Generation::board_tflops, 1, 1e7},
    {"tf32_slowdown", &Generation::tf32_slowdown, 1, 64},
    {"start_us", &Generation::start_us, 0, 1000},
    {"network_share", &Generation::network_share, 0.01, 1}};

/// Reads such a file. Fails with `kInput` on unknown and missing keys, values out of range, and
/// figures without a source.
Generation read_generation(Node root);

/// All of them, those of `generations/`, in the order of their files. They live forever, so that a
/// pointer to one stands for it.
std::span<const Generation> generations();

/// The generation of a name or an architecture; `where` fails when there is none, naming all.
const Generation& generation_named(std::string_view word, Node where);
/// The generation of a word that is known.
const Generation& generation_named(std::string_view word);

/// The generation of devices of which nothing else is known, so that any device is priced.
inline constexpr std::string_view kOtherDevice = "other device";

/// Dense 16-bit peak; the widest narrower (or else the only) one when the device states none.
double sixteen_bit_flops(const Device& device);

/// The generation that a device states; of one that states none, the generation with whose members'
/// dense 16-bit peaks its own goes: so are devices priced that a person describes by their peaks
/// alone.
const Generation& generation_of(const Device& device);
const Generation& generation_of_peak(double sixteen_bit_flops_per_s);

}  // namespace stepwright::cluster
