#include "stepwright/cost/price_table.h"

#include <cstdint>

namespace stepwright::cost {

std::size_t OperatorTimeCache::Hash::operator()(const OperatorPriceKey& key) const {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
  const step::OperatorShape& s = key.shape;
  std::uint64_t hash =
      static_cast<std::uint64_t>(key.kind) << 24 | static_cast<std::uint64_t>(key.phase) << 16 |
      static_cast<std::uint64_t>(key.dtype) << 8 | static_cast<std::uint64_t>(key.routed) << 1 |
      static_cast<std::uint64_t>(key.gated);
  for (const std::int64_t size : {s.rows, s.columns, s.inner, s.batch, s.heads, s.kv_heads,
                                  s.queries, s.keys, s.head_dim, s.value_dim, s.pairs}) {
    hash = (hash ^ static_cast<std::uint64_t>(size)) * kMix;
    hash ^= hash >> 32;
  }
  return hash;
}

double OperatorTimeCache::cached_operator_seconds(const step::Operator& op) {
  const auto [entry, fresh] = known_.try_emplace(
      {op.kind, op.phase, op.dtype, op.routed, op.gated, op.busiest_rank_load_factor(), op.shape},
      0.0);
  if (fresh) entry->second = cost_model_.compute_s(op);
  return entry->second;
}

}  // namespace stepwright::cost
