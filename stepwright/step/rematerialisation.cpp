#include "stepwright/step/rematerialisation.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace stepwright::step {
namespace {

constexpr auto kRoles = static_cast<std::size_t>(KeptTensorRole::kCount);

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Rematerialisation::Rematerialisation(const RecomputationSource& source, const KeptTensors& restored,
                                     TensorId parameters)
    : source_(source), restored_(restored), parameters_(parameters) {}

void Rematerialisation::prepare_forward_tables() {
  kept_.assign(forward().tensors.size(), -1);
  made_.assign(forward().tensors.size(), -1);
  last_write_.assign(forward().tensors.size(), -1);
  marked_.assign(forward().operators.size(), false);
  run_.assign(forward().operators.size(), -1);
  for (std::size_t i = 0; i < kRoles; ++i) {
    const TensorId id = source_.kept.get(static_cast<KeptTensorRole>(i));
    if (id >= 0) kept_[at(id)] = restored_.get(static_cast<KeptTensorRole>(i));
  }
  if (source_.parameters >= 0) kept_[at(source_.parameters)] = parameters_;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    for (const TensorId id : forward().writes(forward().operators[i])) {
      last_write_[at(id)] = static_cast<std::int32_t>(i);
    }
  }
}

void Rematerialisation::recompute_whole_module(std::vector<KeptTensorRole> roles,
                                               const ForwardModuleEnd& end) {
  whole_.push_back({std::move(roles), end});
}

bool Rematerialisation::is_kept_value_unchanged(TensorId id, std::int32_t reader) const {
  return last_write_[at(id)] < reader;
}

void Rematerialisation::mark_producers_for_recomputation(TensorId id, std::int32_t reader) {
  if (kept_[at(id)] >= 0 && is_kept_value_unchanged(id, reader)) return;
  if (last_write_[at(id)] < 0) throw std::logic_error("a backward lacks the input of its block");
  mark_producing_operators_to_rerun(id, reader);
}

void Rematerialisation::mark_producing_operators_to_rerun(TensorId id, std::int32_t reader) {
  for (std::int32_t i = 0; i < std::min(reader, last_write_[at(id)] + 1); ++i) {
    const Operator& op = forward().operators[at(i)];
    const auto writes = forward().writes(op);
    if (marked_[at(i)] || std::ranges::find(writes, id) == writes.end()) continue;
    marked_[at(i)] = true;
    for (const TensorId read : forward().reads(op)) mark_producers_for_recomputation(read, i);
  }
}

void Rematerialisation::replay(OperatorTemplateBuilder& backward, std::int32_t index) {
  const Operator& op = forward().operators[at(index)];
  std::vector<TensorId> reads;
  for (const TensorId id : forward().reads(op)) {
    const bool restored = kept_[at(id)] >= 0 && is_kept_value_unchanged(id, index);
    reads.push_back(restored ? kept_[at(id)] : made_[at(id)]);
  }
  std::vector<TensorId> writes;
  for (const TensorId id : forward().writes(op)) {
    if (made_[at(id)] < 0) made_[at(id)] = backward.tensor(source_.forward.at(id));
    writes.push_back(made_[at(id)]);
  }
  std::vector<std::int32_t> after;
  for (const std::int32_t other : forward().after(op)) {
    if (run_[at(other)] >= 0) after.push_back(run_[at(other)]);
  }
  Operator again = op;
  again.phase = Phase::kRecompute;
  run_[at(index)] = backward.add(again, reads, writes, after);
}

void Rematerialisation::recompute_tensor_of_role(OperatorTemplateBuilder& backward,
                                                 KeptTensors& kept, KeptTensorRole role) {
  const TensorId wanted = source_.all.get(role);
  if (wanted < 0) return;
  if (run_.empty()) prepare_forward_tables();
  const auto end = static_cast<std::int32_t>(run_.size());
  mark_producers_for_recomputation(wanted, end);
  for (const Whole& whole : whole_) {
    if (whole.end.result < 0 || std::ranges::find(whole.roles, role) == whole.roles.end()) continue;
    mark_producing_operators_to_rerun(whole.end.result, whole.end.operators);
  }
  for (std::int32_t i = 0; i < end; ++i) {
    if (marked_[at(i)] && run_[at(i)] < 0) replay(backward, i);
  }
  for (std::size_t i = 0; i < kRoles; ++i) {
    const TensorId id = source_.all.get(static_cast<KeptTensorRole>(i));
    if (id < 0 || kept.has(static_cast<KeptTensorRole>(i))) continue;
    if (kept_[at(id)] >= 0) {
      kept.set(static_cast<KeptTensorRole>(i), kept_[at(id)]);
    } else if (last_write_[at(id)] >= 0 && run_[at(last_write_[at(id)])] >= 0) {
      kept.set(static_cast<KeptTensorRole>(i), made_[at(id)]);
    }
  }
}

}  // namespace stepwright::step
