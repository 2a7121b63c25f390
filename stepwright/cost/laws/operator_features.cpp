#include "stepwright/cost/laws/operator_features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "stepwright/step/work.h"

namespace stepwright::cost {
namespace {

/// The sizes of `batch` products [rows, depth] x [depth, columns].
struct Sizes {
  double batch = 1, rows = 1, columns = 1, depth = 1;
};

double size(std::int64_t number) { return static_cast<double>(std::max<std::int64_t>(1, number)); }

/// Returns the largest power of two that divides a size, as an exponent up to 8: the alignment that
/// a kernel can use.
double alignment(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(std::max<std::int64_t>(1, number));
  return std::min(8, std::countr_zero(bits));
}

/// Returns the elements that full waves of tiles compute over the elements of the result.
double wave_factor(const Sizes& s, double tile_rows, double tile_columns, int multiprocessors) {
  const double tiles =
      s.batch * std::ceil(s.rows / tile_rows) * std::ceil(s.columns / tile_columns);
  const double slots = std::ceil(tiles / multiprocessors) * multiprocessors;
  return slots * tile_rows * tile_columns / (s.batch * s.rows * s.columns);
}

std::array<double, 3> wave_factors(const Sizes& s, int multiprocessors) {
  return {wave_factor(s, 128, 256, multiprocessors), wave_factor(s, 256, 128, multiprocessors),
          wave_factor(s, 128, 128, multiprocessors)};
}

/// Returns the products of a pass of one of the three classes of products.
std::array<Sizes, 2> products(OperatorClass what, OperatorPass pass, const step::OperatorShape& s) {
  const bool forward = pass == OperatorPass::kForward;
  if (what == OperatorClass::kProduct) {
    const double groups = size(s.batch);
    const double rows = std::ceil(size(s.rows) / groups);
    if (forward) return {Sizes{groups, rows, size(s.columns), size(s.inner)}, {}};
    return {Sizes{groups, rows, size(s.inner), size(s.columns)},
            Sizes{groups, size(s.inner), size(s.columns), rows}};
  }
  const double batch = size(s.batch) * size(s.heads);
  const Sizes square{batch, size(s.queries), size(s.keys), size(s.head_dim)};
  const Sizes narrow{batch, size(s.queries), size(s.head_dim), size(s.keys)};
  if (what == OperatorClass::kScores) {
    if (forward) return {square, {}};
    return {narrow, narrow};
  }
  if (forward) return {narrow, {}};
  return {square, narrow};
}

KernelWork product_work(const step::Operator& op, const Sizes& s, int multiprocessors) {
  return {.flops = step::operator_flops(op),
          .bytes = step::device_memory_traffic_bytes(op),
          .waves = std::ranges::min(wave_factors(s, multiprocessors)),
          .depth = s.depth};
}

double padded_head(std::int64_t head_dim) { return 32 * std::ceil(size(head_dim) / 32); }

/// Returns the sizes of attention's blocks of 128 queries over all heads, which run in waves.
Sizes attention_blocks(const step::OperatorShape& s) {
  return {.batch = size(s.batch) * size(s.heads), .rows = size(s.queries), .columns = 1};
}

KernelWork attention_work(const step::Operator& op, int multiprocessors) {
  const step::OperatorShape& s = op.shape;
  const bool masked = size(s.pairs) < size(s.queries) * size(s.keys);
  const double padded = padded_head(s.head_dim);
  return {.flops = step::operator_flops(op) * padded / size(s.head_dim),
          .bytes = step::device_memory_traffic_bytes(op),
          .waves = wave_factor(attention_blocks(s), 128, 1, multiprocessors),
          .depth = size(s.keys),
          .uneven_head = padded != size(s.head_dim),
          .wide_head = padded > 128,
          .head_dim = padded,
          .masked = masked ? size(s.queries) / size(s.pairs) : 0};
}

double rows_of(OperatorClass what, const step::OperatorShape& s) {
  switch (what) {
    case OperatorClass::kCausalSoftmax:
    case OperatorClass::kUnfusedSoftmax:
    case OperatorClass::kMask: return size(s.batch) * size(s.heads) * size(s.queries);
    case OperatorClass::kOptimizer:
    case OperatorClass::kUnfusedOptimizer: return static_cast<double>(s.batch);
    default: return size(s.rows);
  }
}

double columns_of(OperatorClass what, const step::OperatorShape& s) {
  switch (what) {
    case OperatorClass::kCausalSoftmax:
    case OperatorClass::kUnfusedSoftmax:
    case OperatorClass::kMask: return size(s.keys);
    default: return size(s.columns);
  }
}

bool is_optimizer(OperatorClass what) {
  return what == OperatorClass::kOptimizer || what == OperatorClass::kUnfusedOptimizer;
}

void add_waves(Features& out, const Sizes& s, int multiprocessors) {
  for (const double factor : wave_factors(s, multiprocessors)) out.add(factor);
  const double tiles = s.batch * std::ceil(s.rows / 128) * std::ceil(s.columns / 256);
  out.add(std::log2(tiles / multiprocessors));
}

void add_product(Features& out, const step::OperatorShape& s) {
  const double m = size(s.rows), n = size(s.columns), k = size(s.inner);
  for (const double value :
       {m, n, k, m * n * k, m / n, n / k, m * n * k / (m * k + k * n + m * n)}) {
    out.add(std::log2(value));
  }
  for (const std::int64_t number : {s.columns, s.inner, s.rows}) out.add(alignment(number));
}

void add_batched(Features& out, const step::OperatorShape& s) {
  const double batch = size(s.batch) * size(s.heads);
  out.add(std::log2(batch));
  out.add(size(s.keys));
  out.add(size(s.head_dim));
  out.add(alignment(s.head_dim));
  out.add(alignment(s.keys));
  out.add(std::log2(batch * size(s.queries) * size(s.keys) * size(s.head_dim)));
}

void add_attention(Features& out, const step::OperatorShape& s, int multiprocessors) {
  const Sizes blocks = attention_blocks(s);
  const double padded = padded_head(s.head_dim);
  out.add(std::log2(blocks.batch));
  out.add(size(s.keys));
  out.add(size(s.head_dim));
  out.add(padded);
  out.add(padded - size(s.head_dim));
  out.add(wave_factor(blocks, 128, 1, multiprocessors));
  out.add(std::log2(blocks.batch * std::ceil(blocks.rows / 128) / multiprocessors));
  out.add(std::log2(blocks.batch * blocks.rows * size(s.keys) * padded));
}

void add_vector(Features& out, OperatorClass what, const step::OperatorShape& s) {
  if (is_optimizer(what)) {
    out.add(std::log2(size(s.rows)));
    out.add(static_cast<double>(s.batch));
    return;
  }
  const double rows = rows_of(what, s), columns = columns_of(what, s);
  out.add(std::log2(rows));
  out.add(std::log2(columns));
  out.add(std::log2(rows * columns));
  out.add(std::log2(size(s.inner)));
  out.add(columns);
  out.add(alignment(static_cast<std::int64_t>(columns)));
  out.add(alignment(static_cast<std::int64_t>(rows)));
}

constexpr std::string_view kProductNames[] = {"log2_rows",
                                              "log2_columns",
                                              "log2_inner",
                                              "log2_work",
                                              "log2_rows_per_column",
                                              "log2_columns_per_inner",
                                              "log2_intensity",
                                              "columns_alignment",
                                              "inner_alignment",
                                              "rows_alignment",
                                              "tiles_128x256",
                                              "tiles_256x128",
                                              "tiles_128x128",
                                              "log2_waves",
                                              "weight_tiles_128x256",
                                              "weight_tiles_256x128",
                                              "weight_tiles_128x128",
                                              "weight_log2_waves"};
constexpr std::string_view kBatchedNames[] = {"log2_products",
                                              "keys",
                                              "head_dim",
                                              "head_alignment",
                                              "keys_alignment",
                                              "log2_work",
                                              "tiles_128x256",
                                              "tiles_256x128",
                                              "tiles_128x128",
                                              "log2_waves",
                                              "other_tiles_128x256",
                                              "other_tiles_256x128",
                                              "other_tiles_128x128",
                                              "other_log2_waves"};
constexpr std::string_view kAttentionNames[] = {"log2_heads",       "keys",         "head_dim",
                                                "padded_head",      "head_padding", "query_waves",
                                                "log2_query_waves", "log2_work"};
constexpr std::string_view kVectorNames[] = {"log2_rows",     "log2_columns", "log2_elements",
                                             "log2_inner",    "columns",      "columns_alignment",
                                             "rows_alignment"};
constexpr std::string_view kOptimizerFeatureNames[] = {"log2_parameters", "layers"};

}  // namespace

OperatorPassWork operator_pass_work_for_law(OperatorClass what, OperatorPass pass,
                                            const step::Operator& op, int multiprocessors) {
  step::Operator phased = op;
  phased.phase =
      pass == OperatorPass::kForward ? step::Phase::kForward : step::Phase::kDataGradient;
  OperatorPassWork work;
  switch (what) {
    case OperatorClass::kProduct:
    case OperatorClass::kScores:
    case OperatorClass::kAttendValues: {
      const std::array<Sizes, 2> sizes = products(what, pass, op.shape);
      work.count = pass == OperatorPass::kForward ? 1 : 2;
      for (int i = 0; i < work.count; ++i) {
        work.kernels[i] = product_work(phased, sizes[i], multiprocessors);
      }
      return work;
    }
    case OperatorClass::kAttention:
      work.kernels[0] = attention_work(phased, multiprocessors);
      return work;
    default:
      work.kernels[0] = {.bytes = step::device_memory_traffic_bytes(phased),
                         .rows = rows_of(what, op.shape)};
      return work;
  }
}

Features features(OperatorClass what, OperatorPass pass, const step::Operator& op,
                  int multiprocessors) {
  Features out;
  if (what == OperatorClass::kAttention) {
    add_attention(out, op.shape, multiprocessors);
  } else if (can_be_compute_bound(what)) {
    what == OperatorClass::kProduct ? add_product(out, op.shape) : add_batched(out, op.shape);
    const std::array<Sizes, 2> sizes = products(what, pass, op.shape);
    add_waves(out, sizes[0], multiprocessors);
    if (pass == OperatorPass::kBackward) add_waves(out, sizes[1], multiprocessors);
  } else {
    add_vector(out, what, op.shape);
  }
  return out;
}

std::span<const std::string_view> boosted_tree_feature_names(OperatorClass what,
                                                             OperatorPass pass) {
  const std::size_t second = pass == OperatorPass::kBackward ? 4 : 0;
  if (what == OperatorClass::kProduct) return std::span(kProductNames).first(14 + second);
  if (what == OperatorClass::kAttention) return kAttentionNames;
  if (can_be_compute_bound(what)) return std::span(kBatchedNames).first(10 + second);
  if (is_optimizer(what)) return kOptimizerFeatureNames;
  return kVectorNames;
}

OperatorSizes quantities(OperatorClass what, const step::Operator& op) {
  const step::OperatorShape& s = op.shape;
  if (what == OperatorClass::kProduct) {
    return {{{{"rows", size(s.rows) / size(s.batch)},
              {"columns", size(s.columns)},
              {"inner", size(s.inner)}}},
            3};
  }
  if (can_be_compute_bound(what)) {
    return {{{{"heads", size(s.batch) * size(s.heads)},
              {"queries", size(s.queries)},
              {"keys", size(s.keys)},
              {"head_dim", size(s.head_dim)}}},
            4};
  }
  if (is_optimizer(what)) return {{{{"parameters", size(s.rows)}}}, 1};
  return {{{{"rows", rows_of(what, s)}, {"columns", columns_of(what, s)}}}, 2};
}

}  // namespace stepwright::cost
